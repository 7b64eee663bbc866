#!/usr/bin/env bash
# weft load: exact counts, statuses and bytes against weft serve, bodies of every kind and broken answers against a small server,
# the rate, an interrupt, misuse.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
command -v python3 >/dev/null || exit 77
trap 'kill -9 "${server-}" "${small-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# await FILE PROCESS: prints the URL that the process writes there
await() {
    for ((i = 0; i < 2000; i++)); do
        ! grep -q 'http:' "$1" || break
        kill -0 "$2" 2>/dev/null || break
        sleep 0.01
    done
    sed -n 's/.*\(http:.*\)/\1/p' "$1"
}
# wants EXPRESSION...: all of them hold for the JSON that was printed last, which is the object "it"
wants() {
    python3 - "$scratch/out" "$@" <<'END' || fail "the figures are wrong"
import json, sys
it = json.load(open(sys.argv[1]))
for wanted in sys.argv[2:]:
    if not eval(wanted):
        sys.exit("it is not so: " + wanted)
END
}

mkdir "$scratch/site"
head -c 1000 /dev/zero >"$scratch/site/file"
"$weft" serve -a 127.0.0.1:0 --log "$scratch/site" >"$scratch/served" 2>"$scratch/log" &
server=$!
url=$(await "$scratch/served" "$server")
! grep -q 'without its HTTP parser' "$scratch/log" || exit 77

# Exact counts, by the server's word too.
try 0 "$weft" load -n 1234 -c 7 --json "$url/file"
err_is_empty
wants 'it["requests"] == it["answered"] == 1234 and it["statuses"] == {"200": 1234} and it["connections"] == 7' \
    'sum(it["errors"].values()) == 0 and it["unsent"] == 0 and 1 <= it["connects"] <= 7' \
    'it["bytes"] > 1234 * 1000 and it["bytes"] % 1234 == 0' \
    'it["url"].endswith("/file") and it["seconds"] > 0 and it["per_second"] > 0' \
    '0 < it["latency_us"]["p50"] <= it["latency_us"]["p90"] <= it["latency_us"]["p99"] <= it["latency_us"]["p99.9"]' \
    'it["latency_us"]["p99.9"] <= it["latency_us"]["max"] >= it["latency_us"]["mean"]'
for ((i = 0; i < 2000 && $(grep -c ' GET /file 200 1000 ' "$scratch/log") < 1234; i++)); do
    sleep 0.01
done
[ "$(grep -c ' GET /file 200 1000 ' "$scratch/log")" -eq 1234 ] || fail "the server has had another number"
try 0 "$weft" load -n 50 -c 50 --method HEAD "$url/file"
out_has '^  requests   50, '
out_has '^  errors     0$'
out_has '^  statuses   200: 50$'
out_has '^  latency    p50 [0-9.]+ [mu]?s, p90 .*, p99 .*, p99\.9 .*, max .*, mean '
try 0 "$weft" load -n 3 -c 1 -H 'X-One: 1' "$url/nowhere?a=b#c"
out_has 'statuses   404: 3$'
grep -q ' GET /nowhere?a=b 404 ' "$scratch/log" || fail "path and query were not sent as they are"

# A rate: so many are due, and no more are sent.
try 0 "$weft" load -d 300ms -r 100 -c 4 --json "$url/file"
wants '1 <= it["requests"] <= 30 and it["requests"] + it["unsent"] in (29, 30) and it["rate"] == 100'
# By time alone, and an interrupt that leaves the figures.
try 0 "$weft" load -d 100ms -c 2 --json "$url/file"
wants 'it["requests"] > 0 and it["seconds"] >= 0.1'
"$weft" load -d 1h -c 2 --json "$url/file" >"$scratch/out" 2>"$scratch/err" &
load=$!
before=$(wc -l <"$scratch/log")
for ((i = 0; i < 2000 && $(wc -l <"$scratch/log") <= before; i++)); do
    sleep 0.01
done
kill -INT "$load"
wait "$load" || fail "an interrupt ends it with status $?"
wants 'it["requests"] > 0 and sum(it["errors"].values()) == 0'

# Answers of every kind: chunks, up to the end, "100 Continue" before, a body that comes back, and broken ones.
cat >"$scratch/small.py" <<'END'
import socket, threading
def serve(peer):
    stream = peer.makefile("rb")
    while True:
        line = stream.readline()
        if not line:
            break
        path, length = line.split()[1], 0
        while True:
            field = stream.readline().strip().lower()
            if not field:
                break
            if field.startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        body = stream.read(length)
        if path == b"/chunks":
            peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\nT: 1\r\n\r\n")
        elif path == b"/end":
            peer.sendall(b"HTTP/1.0 201 Made\r\n\r\nuntil it closes")
            break
        elif path == b"/continue":
            peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Taken\r\nContent-Length: 2\r\n\r\nok")
        elif path == b"/back":
            peer.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % (200 + len(body)))
        elif path == b"/close":
            break
        elif path == b"/short":
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc")
            break
        elif path == b"/nonsense":
            peer.sendall(b"SSH-2.0-server\r\n\r\n")
        # and for /silence nothing
    stream.close()
    peer.close()
listener = socket.create_server(("127.0.0.1", 0))
print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
python3 "$scratch/small.py" >"$scratch/small" &
small=$!
url=$(await "$scratch/small" "$small")
try 0 "$weft" load -n 20 -c 2 --json "$url/chunks"
wants 'it["statuses"] == {"200": 20} and it["bytes"] == 20 * 92 and it["connects"] <= 2'
try 0 "$weft" load -n 20 -c 2 --json "$url/end"
wants 'it["statuses"] == {"201": 20} and it["connects"] == 20'
try 0 "$weft" load -n 20 -c 2 --json "$url/continue"
wants 'it["statuses"] == {"202": 20}'
printf 'hello' >"$scratch/five"
try 0 "$weft" load -n 20 -c 2 --json --body "$scratch/five" "$url/back"
wants 'it["statuses"] == {"205": 20}'
try 1 "$weft" load -n 20 -c 2 --json "$url/close"
wants 'it["errors"]["closed"] == 20 == it["requests"] and it["answered"] == 0 and it["statuses"] == {}'
try 1 "$weft" load -n 20 -c 2 --json "$url/short"
wants 'it["errors"]["closed"] == 20'
try 1 "$weft" load -n 20 -c 2 --json "$url/nonsense"
wants 'it["errors"]["malformed"] == 20'
try 1 "$weft" load -n 2 -c 2 -t 200ms --json "$url/silence"
wants 'it["errors"]["timeout"] == 2'
try 1 "$weft" load -n 2 -c 2 -t 200ms "$url/silence"
out_has '^  errors     2, timeout 2$'
kill -9 "$small"
wait "$small" 2>/dev/null || true
try 1 "$weft" load -n 2 "$url/"
err_has 'cannot connect'

misuse "$weft" load
misuse "$weft" load one two
for wrong in https://127.0.0.1/ 127.0.0.1 http:// http://:80/ http://host:0/ http://host:99999/ http://a@b/ 'http://h/a b' 'http://[::1'; do
    misuse "$weft" load "$wrong"
done
for wrong in '-c 0' '-c many' '-d soon' '-d 0' '-n 0' '-r 0' '-r -1' '-t x' '-X G(T' '-H nothing' '-H Content-Length:1' '-Z'; do
    # shellcheck disable=SC2086
    misuse "$weft" load $wrong http://127.0.0.1:1/
done
misuse "$weft" load -n
try 1 "$weft" load --body "$scratch/nowhere" http://127.0.0.1:1/
err_has 'cannot read'
kill -TERM "$server"
wait "$server"
echo "all counts are right"
