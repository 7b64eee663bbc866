# Completion of the weft command for fish. Installed as vendor_completions.d/weft.fish.

# Whether "weft run" still waits for its file: behind it everything belongs to the program.
function __weft_wants_file
    __fish_seen_subcommand_from run; and not string match -qr -- '[.](c|[cm]?[jt]s)$' (commandline -opc)
end

complete -c weft -f
complete -c weft -n __fish_use_subcommand -l help -d 'List the commands'
complete -c weft -n __fish_use_subcommand -l version -d 'Print the version'
complete -c weft -n __fish_use_subcommand -a run -d 'Run a script, or compile a C program and run it'
complete -c weft -n __fish_use_subcommand -a repl -d 'Run JavaScript line by line as it is typed'
complete -c weft -n __fish_use_subcommand -a new -d 'Start a project in a new directory'
complete -c weft -n __fish_use_subcommand -a serve -d 'Serve the files of a directory over HTTP'
complete -c weft -n __fish_use_subcommand -a load -d 'Send requests to an HTTP server and time the answers'
complete -c weft -n __fish_use_subcommand -a doctor -d 'Tell what this machine offers and what weft makes of it'
complete -c weft -n __fish_use_subcommand -a version -d 'Print the version and how it was built'
complete -c weft -n __fish_use_subcommand -a help -d 'Explain a command'

complete -c weft -n __weft_wants_file -k -a '(__fish_complete_suffix .js .mjs .cjs .ts .mts .cts .c)'
complete -c weft -n __weft_wants_file -s e -l eval -x -d 'A text of JavaScript instead of a file'
complete -c weft -n __weft_wants_file -s p -l print -d 'Print what the text is worth, or the compiler command'
complete -c weft -n __weft_wants_file -s c -l check -d 'Only look whether it can be understood'
complete -c weft -n __weft_wants_file -l input-type -x -a 'module commonjs' -d 'What a text is'
complete -c weft -n __weft_wants_file -l import-map -r -F -d 'What names of modules stand for'
complete -c weft -n __weft_wants_file -l max-memory -x -d 'Of the heap'
complete -c weft -n __weft_wants_file -l max-stack -x -d 'Of the main script'
complete -c weft -n __weft_wants_file -l max-run -x -d 'Of one callback'
complete -c weft -n __weft_wants_file -l workers -x -d 'Threads of the runtime'
complete -c weft -n __weft_wants_file -l cc -x -a '(__fish_complete_command)' -d 'Compiler to use'
complete -c weft -n __weft_wants_file -s O -x -a '0 1 2 3 s g' -d 'Level of optimisation'
complete -c weft -n __weft_wants_file -s g -d 'With debugging information'
complete -c weft -n __weft_wants_file -l sanitize -x -a 'address thread undefined' -d 'Check while running'
complete -c weft -n __weft_wants_file -s I -x -a '(__fish_complete_directories)' -d 'Look for headers in'
complete -c weft -n __weft_wants_file -s D -x -d 'Define a macro'
complete -c weft -n __weft_wants_file -s L -x -a '(__fish_complete_directories)' -d 'Look for libraries in'
complete -c weft -n __weft_wants_file -s l -x -d 'Link a library'
complete -c weft -n __weft_wants_file -l no-cache -d 'Compile in any case and keep nothing'
complete -c weft -n __weft_wants_file -l keep -d 'Keep the program and say where'
complete -c weft -n __weft_wants_file -l help -d 'Explain this command'
complete -c weft -n '__fish_seen_subcommand_from run; and not __weft_wants_file' -F

complete -c weft -n '__fish_seen_subcommand_from repl' -l import-map -r -F -d 'What names of modules stand for'
complete -c weft -n '__fish_seen_subcommand_from repl' -l max-memory -x -d 'Of the heap'
complete -c weft -n '__fish_seen_subcommand_from repl' -l max-stack -x -d 'Of what is typed'
complete -c weft -n '__fish_seen_subcommand_from repl' -l max-run -x -d 'Of one callback'
complete -c weft -n '__fish_seen_subcommand_from repl' -l workers -x -d 'Threads of the runtime'
complete -c weft -n '__fish_seen_subcommand_from repl' -s h -l help -d 'Explain this command'

complete -c weft -n '__fish_seen_subcommand_from serve' -a '(__fish_complete_directories)'
complete -c weft -n '__fish_seen_subcommand_from serve' -s a -l address -x -d 'Where to listen'
complete -c weft -n '__fish_seen_subcommand_from serve' -s l -l log -d 'Say every request on standard error'
complete -c weft -n '__fish_seen_subcommand_from serve' -l list -d 'List directories that have no index.html'
complete -c weft -n '__fish_seen_subcommand_from serve' -l hidden -d 'Serve names that begin with a dot, too'
complete -c weft -n '__fish_seen_subcommand_from serve' -l max-age -x -d 'Seconds that browsers may keep what they got'
complete -c weft -n '__fish_seen_subcommand_from serve' -l gzip -d 'Pack text for those who take it'

complete -c weft -n '__fish_seen_subcommand_from load' -s c -l connections -x -d 'How many at once'
complete -c weft -n '__fish_seen_subcommand_from load' -s d -l duration -x -d 'How long'
complete -c weft -n '__fish_seen_subcommand_from load' -s n -l requests -x -d 'How many in all'
complete -c weft -n '__fish_seen_subcommand_from load' -s r -l rate -x -d 'How many a second'
complete -c weft -n '__fish_seen_subcommand_from load' -s t -l timeout -x -d 'For an answer'
complete -c weft -n '__fish_seen_subcommand_from load' -s X -l method -x -a 'GET HEAD POST PUT PATCH DELETE OPTIONS' -d 'Method'
complete -c weft -n '__fish_seen_subcommand_from load' -s H -l header -x -d 'One more header'
complete -c weft -n '__fish_seen_subcommand_from load' -l body -r -F -d 'What is sent with each request'
complete -c weft -n '__fish_seen_subcommand_from load' -l json -d 'The figures as JSON'
complete -c weft -n '__fish_seen_subcommand_from serve load' -s h -l help -d 'Explain this command'

complete -c weft -n '__fish_seen_subcommand_from doctor' -l json -d 'The same as JSON'
complete -c weft -n '__fish_seen_subcommand_from doctor' -l sysroot -x -a '(__fish_complete_directories)' \
    -d 'Read system files below a directory'
complete -c weft -n '__fish_seen_subcommand_from new doctor version' -l help -d 'Explain this command'
complete -c weft -n '__fish_seen_subcommand_from help' -a 'run new serve load doctor version help'
