#compdef weft
# Completion of the weft command for zsh. Installed as site-functions/_weft.

_weft() {
    local -a commands
    local state line
    typeset -A opt_args
    commands=(
        'run:run a script, or compile a C program and run it'
        'repl:run JavaScript line by line as it is typed'
        'new:start a project in a new directory'
        'serve:serve the files of a directory over HTTP'
        'load:send requests to an HTTP server and time the answers'
        'doctor:tell what this machine offers and what weft makes of it'
        'version:print the version and how it was built'
        'help:explain a command'
    )

    _arguments -C \
        '(- *)--help[list the commands]' \
        '(- *)--version[print the version]' \
        '1: :->command' \
        '*:: :->argument'

    case $state in
    command)
        _describe -t commands 'weft command' commands
        ;;
    argument)
        case $words[1] in
        run)
            _arguments -S -A '-*' \
                '(-e --eval)'{-e+,--eval=}'[a text of JavaScript instead of a file]:text:' \
                '(-p --print)'{-p,--print}'[print what the text is worth, or the compiler command]' \
                '(-c --check)'{-c,--check}'[only look whether it can be understood]' \
                '--input-type=[what a text is]:type:(module commonjs)' \
                '--import-map=[what names of modules stand for]:file:_files' \
                '--max-memory=[of the heap]:size:' \
                '--max-stack=[of the main script]:size:' \
                '--max-run=[of one callback]:time:' \
                '--workers=[threads of the runtime]:number:' \
                '--cc=[compiler to use]:compiler:_command_names -e' \
                '-O+[level of optimisation]:level:(0 1 2 3 s g)' \
                '-g[with debugging information]' \
                '--sanitize=[check while running]:sanitizer:_values -s , sanitizer address thread undefined' \
                '*-I+[look for headers in]:directory:_directories' \
                '*-D+[define a macro]:macro:' \
                '*-L+[look for libraries in]:directory:_directories' \
                '*-l+[link a library]:library:' \
                '(--keep)--no-cache[compile in any case and keep nothing]' \
                '(--no-cache)--keep[keep the program and say where]' \
                '(- *)--help[explain this command]' \
                '1:program:_files -g "*.(c|js|mjs|cjs|ts|mts|cts)"' \
                '*:argument of the program:_files'
            ;;
        repl)
            _arguments \
                '--import-map=[what names of modules stand for]:file:_files' \
                '--max-memory=[of the heap]:size:' \
                '--max-stack=[of what is typed]:size:' \
                '--max-run=[of one callback]:time:' \
                '--workers=[threads of the runtime]:number:' \
                '(- *)'{-h,--help}'[explain this command]'
            ;;
        serve)
            _arguments \
                '(-a --address)'{-a+,--address=}'[where to listen]:address:' \
                '(-l --log)'{-l,--log}'[say every request on standard error]' \
                '--list[list directories that have no index.html]' \
                '--hidden[serve names that begin with a dot, too]' \
                '--max-age=[how long browsers may keep what they got]:seconds:' \
                '--gzip[pack text for those who take it]' \
                '(- *)'{-h,--help}'[explain this command]' \
                '1:directory:_directories'
            ;;
        load)
            _arguments \
                '(-c --connections)'{-c+,--connections=}'[how many at once]:number:' \
                '(-d --duration)'{-d+,--duration=}'[how long]:time:' \
                '(-n --requests)'{-n+,--requests=}'[how many in all]:number:' \
                '(-r --rate)'{-r+,--rate=}'[how many a second]:number:' \
                '(-t --timeout)'{-t+,--timeout=}'[for an answer]:time:' \
                '(-X --method)'{-X+,--method=}'[method]:method:(GET HEAD POST PUT PATCH DELETE OPTIONS)' \
                '*'{-H+,--header=}'[one more header]:header:' \
                '--body=[what is sent with each request]:file:_files' \
                '--json[the figures as JSON]' \
                '(- *)'{-h,--help}'[explain this command]' \
                '1:URL:_urls'
            ;;
        doctor)
            _arguments \
                '--json[the same as JSON]' \
                '--sysroot=[read system files below a directory]:directory:_directories' \
                '(- *)--help[explain this command]'
            ;;
        help)
            _describe -t commands 'weft command' commands
            ;;
        new)
            _arguments '(- *)--help[explain this command]' '1:name of the project:'
            ;;
        version)
            _arguments '(- *)--help[explain this command]'
            ;;
        esac
        ;;
    esac
}

_weft "$@"
