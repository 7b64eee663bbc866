# Completion of the weft command for bash. Installed as bash-completion/completions/weft; or source it.

_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} i
    local commands='run repl new serve load doctor version help'
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    case $command in
    run)
        # Behind the file everything belongs to the program.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            *.c | *.js | *.mjs | *.cjs | *.ts | *.mts | *.cts)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
                ;;
            esac
        done
        case $before in
        --input-type) mapfile -t COMPREPLY < <(compgen -W 'module commonjs' -- "$word") ;;
        --import-map) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        -e | --eval | --max-memory | --max-stack | --max-run | --workers) ;;
        --cc) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
        -O) mapfile -t COMPREPLY < <(compgen -W '0 1 2 3 s g' -- "$word") ;;
        -I | -L) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        --sanitize | =) mapfile -t COMPREPLY < <(compgen -W 'address thread undefined' -- "${word#=}") ;;
        *)
            case $word in
            --input-type=*) mapfile -t COMPREPLY < <(compgen -P --input-type= -W 'module commonjs' -- "${word#*=}") ;;
            --sanitize=*) mapfile -t COMPREPLY < <(compgen -P --sanitize= -W 'address thread undefined' -- "${word#*=}") ;;
            -*) mapfile -t COMPREPLY < <(compgen -W '-e --eval -p --print -c --check --input-type= --import-map
                --max-memory --max-stack --max-run --workers --cc -O -g --sanitize= -I -D -L -l --no-cache --keep --help' -- "$word") ;;
            *)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(for ending in c js mjs cjs ts mts cts; do compgen -f -X "!*.$ending" -- "$word"; done; compgen -d -- "$word")
                ;;
            esac
            ;;
        esac
        ;;
    repl)
        case $before in
        --import-map) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --max-memory | --max-stack | --max-run | --workers) ;;
        *) mapfile -t COMPREPLY < <(compgen -W '--import-map --max-memory --max-stack --max-run --workers -h --help' -- "$word") ;;
        esac
        ;;
    serve)
        case $before in
        -a | --address | --max-age) ;;
        *)
            case $word in
            -*) mapfile -t COMPREPLY < <(compgen -W '-a --address -l --log --list --hidden --max-age --gzip -h --help' -- "$word") ;;
            *) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
            esac
            ;;
        esac
        ;;
    load)
        case $before in
        --body) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        -X | --method) mapfile -t COMPREPLY < <(compgen -W 'GET HEAD POST PUT PATCH DELETE OPTIONS' -- "$word") ;;
        -c | -d | -n | -r | -t | -H | --connections | --duration | --requests | --rate | --timeout | --header) ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W '-c --connections -d --duration -n --requests -r --rate -t --timeout
                -X --method -H --header --body --json -h --help' -- "$word")
            ;;
        esac
        ;;
    doctor)
        if [ "$before" = --sysroot ]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -W '--json --sysroot --help' -- "$word")
        fi
        ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word") ;;
    new | version) mapfile -t COMPREPLY < <(compgen -W '--help' -- "$word") ;;
    esac
}

complete -F _weft weft
