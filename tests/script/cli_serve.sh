#!/usr/bin/env bash
# weft serve: files as they are, what is hidden or missing stays so, a line a request with --log, misuse, and an end with status
# 0 on a signal.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"

# get PATH [CURL-OPTION...]: prints the body and then the status on a line of its own
if command -v curl >/dev/null; then
    get() { curl -sS --noproxy '*' -w '\n%{http_code}\n' "$url$1" "${@:2}"; }
elif command -v python3 >/dev/null; then
    get() {
        python3 - "$url$1" <<'END'
import sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    answer = opener.open(sys.argv[1])
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(answer.read().decode() + "\n%d\n" % answer.status)
END
    }
else
    exit 77
fi

# start OPTION...: serves $scratch/site, and sets $server and $url
start() {
    : >"$scratch/served"
    "$weft" serve -a 127.0.0.1:0 "$@" "$scratch/site" >"$scratch/served" 2>"$scratch/log" &
    server=$!
    for ((i = 0; i < 2000; i++)); do
        ! grep -q ' at ' "$scratch/served" || break
        ! grep -q 'without its HTTP parser' "$scratch/log" || exit 77
        kill -0 "$server" 2>/dev/null || fail "serve has ended: $(cat "$scratch/log")"
        sleep 0.01
    done
    url=$(sed -n 's/^weft: serving .* at \(http:.*\)/\1/p' "$scratch/served")
    [ -n "$url" ] || fail "no address: $(cat "$scratch/served" "$scratch/log")"
}
# stop SIGNAL
stop() {
    local status=0
    kill -"$1" "$server"
    wait "$server" || status=$?
    [ "$status" -eq 0 ] || fail "$1 ends it with status $status"
    grep -qx 'weft: finishing' "$scratch/log" || fail "it does not say that it finishes"
}
trap 'kill -9 "${server-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

try 0 "$weft" help serve
out_has '^usage: weft serve'
mkdir -p "$scratch/site/below" "$scratch/site/house"
echo 'one' >"$scratch/site/one.txt"
echo 'two words' >"$scratch/site/below/two.txt"
echo '<p>house' >"$scratch/site/house/index.html"
echo 'secret' >"$scratch/site/.hidden"
echo 'outside' >"$scratch/outside"
head -c 300000 /dev/zero | tr '\0' x >"$scratch/site/large"

# Plainly.
start
try 0 get /one.txt
out_is $'one\n\n200'
try 0 get /below/two.txt
out_is $'two words\n\n200'
try 0 get /house/
out_is $'<p>house\n\n200'
try 0 get /large
[ "$(head -n 1 "$scratch/out" | wc -c)" -eq 300001 ] || fail "the large file has another size"
for path in /nowhere /.hidden /below/ /%2e%2e/outside; do
    try 0 get "$path"
    out_has '^40[04]$'
    out_lacks 'secret|outside|two.txt'
done
stop TERM
! grep -q one.txt "$scratch/log" || fail "there is a log without --log"

# With everything.
start --log --list --hidden --max-age 60
try 0 get /below/
out_has 'two\.txt'
try 0 get /.hidden
out_has '^secret$'
if command -v curl >/dev/null; then
    try 0 get /one.txt -i
    out_has '^Cache-Control: .*max-age=60'
    out_has '^Server: weft'
fi
try 0 get /nowhere
stop INT
grep -qE '^127\.0\.0\.1:[0-9]+ GET /below/ 200 [0-9]+ [0-9.]+ ms$' "$scratch/log" || fail "log: $(cat "$scratch/log")"
grep -qE ' GET /nowhere 404 ' "$scratch/log" || fail "log: $(cat "$scratch/log")"

# Asked for wrongly, and what does not work.
misuse "$weft" serve --nonsense
misuse "$weft" serve -a
err_has 'needs a value'
misuse "$weft" serve -a nowhere
err_has 'nowhere is no address'
misuse "$weft" serve --max-age soon
misuse "$weft" serve one two
try 1 "$weft" serve "$scratch/nowhere"
err_has 'cannot serve'
try 1 "$weft" serve "$scratch/site/one.txt"
err_has 'Not a directory'
try 1 "$weft" serve -a 192.0.2.1:1 "$scratch/site"
err_has 'cannot listen'
echo "served at $url"
