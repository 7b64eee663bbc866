#!/usr/bin/env bash
# weft help: every command is listed, explained in the same words by both spellings, and guessed when mistyped.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"

try 0 "$weft" help
err_is_empty
out_has '^usage: weft COMMAND'
cp "$scratch/out" "$scratch/list"
mapfile -t commands < <(sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' "$scratch/list")
for command in run new doctor version help; do
    [[ " ${commands[*]} " = *" $command "* ]] || fail "the list lacks $command"
done

for spelling in --help -h; do
    try 0 "$weft" "$spelling"
    cmp -s "$scratch/out" "$scratch/list" || fail "$spelling shows another list"
done
try 2 "$weft"
out_is_empty
cmp -s "$scratch/err" "$scratch/list" || fail "without a command another list is shown"

for command in "${commands[@]}"; do
    try 0 "$weft" help "$command"
    err_is_empty
    out_has "^usage: weft $command"
    [ "$command" != help ] || continue
    cp "$scratch/out" "$scratch/text"
    for spelling in --help -h; do
        try 0 "$weft" "$command" "$spelling"
        err_is_empty
        cmp -s "$scratch/out" "$scratch/text" || fail "weft $command $spelling says something else"
    done
    misuse "$weft" "$command" --no-such-option
    err_has "no option --no-such-option"
    err_has "see 'weft help $command'"
    misuse "$weft" "$command" -Z
    err_has "no option -Z"
done

while read -r typed meant; do
    misuse "$weft" "$typed"
    err_has "no command '$typed'; did you mean '$meant'\?"
    misuse "$weft" help "$typed"
    err_has "did you mean '$meant'\?"
done <<'END'
rnu run
urn run
runn run
docter doctor
doktor doctor
verison version
hlep help
dcotro doctor
ne new
END

for typed in xyzzy q '' verzzzn averyveryverylongwordthatisnotacommandatall; do
    misuse "$weft" "$typed"
    err_lacks 'did you mean'
done
misuse "$weft" hello.c
err_has 'weft run hello\.c'
misuse "$weft" --loud
err_has 'no option --loud'
misuse "$weft" help run new
echo "${#commands[@]} commands"
