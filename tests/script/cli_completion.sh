#!/usr/bin/env bash
# Shell completions and the manual know every command and option that the command itself explains; bash completes them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"

completion=$WEFT_SOURCE_DIR/tools/completion
mapfile -t commands < <("$weft" help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "${#commands[@]}" -ge 5 ] || fail "weft help lists only ${#commands[@]} commands"

words=0
for command in "${commands[@]}"; do
    for file in weft.bash weft.zsh weft.fish; do
        grep -qw -- "$command" "$completion/$file" || fail "$file does not know the command $command"
    done
    grep -q "^\.It Cm $command\$" "$WEFT_SOURCE_DIR/man/weft.1" || fail "the manual does not know the command $command"
    while read -r option; do
        words=$((words + 1))
        name=${option##*-}
        grep -qw -- "$option" "$completion/weft.bash" || fail "weft.bash does not know $command $option"
        grep -q -- "${option}[+=[},]" "$completion/weft.zsh" || fail "weft.zsh does not know $command $option"
        grep -qE -- "-[ls] ${option##-}( |\$)|-[ls] ${option##--}( |\$)" "$completion/weft.fish" ||
            fail "weft.fish does not know $command $option"
        grep -qE "Fl -?${option#-}( |\$)|Fl .*-$name( |\$)" "$WEFT_SOURCE_DIR/man/weft.1" ||
            fail "the manual does not know $command $option"
    done < <("$weft" help "$command" | grep -oE '^ {2,6}-.{16}' | grep -oE -- '(^| )--?[A-Za-z-]+' | tr -d ' ' | sort -u)
done
[ "$words" -ge 35 ] || fail "only $words options were looked at"

# complete_with WORD...: what bash offers for the last word, sorted
complete_with() {
    COMP_WORDS=(weft "$@")
    COMP_CWORD=$#
    _weft 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}
offers() { # EXPECTED WORD...
    local expected=$1 offered
    shift
    offered=$(complete_with "$@")
    [ "$offered" = "$expected" ] || fail "for 'weft $*' bash offers '$offered' instead of '$expected'"
}
# shellcheck source=/dev/null
. "$completion/weft.bash"
cd "$scratch/tmp"
touch one.c two.c three.txt
mkdir four
offers 'repl run' r
offers 'doctor' help d
offers '--version' --v
offers '--json' doctor --j
offers '--no-cache' run --no
offers '--max-memory --max-run --max-stack' run --max
offers 'commonjs' run --input-type c
offers '--input-type=module' run --input-type=m
offers 'four one.c two.c' run ''
offers 'three.txt' run one.c th
offers 'four' run -I f
offers '--sanitize=thread' run --sanitize=t
offers '' version x
offers 'four' serve f
offers '--log' serve --lo
offers '--max-age' serve --list --m
offers '--rate --requests' load --r
offers 'three.txt' load --body th
offers 'PATCH POST PUT' load -X P

for shell in zsh fish; do
    ! command -v "$shell" >/dev/null || "$shell" -n "$completion/weft.$shell" || fail "$shell does not understand its file"
done
echo "${#commands[@]} commands, $words options"
