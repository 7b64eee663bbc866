#!/usr/bin/env bash
# examples/js/server.mjs with a real Redis and an upstream: its answers, under load without an error, while the others fail and come
# back, and its end by SIGTERM in the middle of requests.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
command -v python3 >/dev/null || exit 77
examples=$(cd "$(dirname "$0")/../../examples/js" && pwd)
# Debian's redis-tools has the server, too: what it is depends on the name by which it is called.
redis_server=$(command -v redis-server || command -v redis-check-rdb) || exit 77
"$weft" run -e 'fetch' >/dev/null 2>&1 || exit 77
trap 'kill -9 "${redis-}" "${upstream-}" "${server-}" "${load-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# await FILE PROCESS PATTERN: until the process has written that; prints the line
await() {
    for ((i = 0; i < 3000; i++)); do
        ! grep -qE "$3" "$1" 2>/dev/null || break
        kill -0 "$2" 2>/dev/null || break
        sleep 0.01
    done
    grep -E -m 1 "$3" "$1" || { echo "not said: $3" >&2; cat "$1" >&2; exit 1; }
}
# What the one before has written must not be taken for this one's.
start_redis() {
    : >"$scratch/redis.log"
    (exec -a redis-server "$redis_server" --port 0 --unixsocket "$scratch/redis" --save '' --daemonize no --dir "$scratch") \
        >"$scratch/redis.log" 2>&1 &
    redis=$!
    await "$scratch/redis.log" "$redis" 'ready to accept connections' >/dev/null
}
start_upstream() {
    : >"$scratch/upstream.log"
    PORT=$1 "$weft" run "$examples/upstream.mjs" >"$scratch/upstream.log" 2>&1 &
    upstream=$!
    upstream_url=$(await "$scratch/upstream.log" "$upstream" '^http:')
}
stop() { # PROCESS: ends it, and it may say how
    kill -TERM "$1"
    wait "$1" || true
}
# wants EXPRESSION...: all of them hold for the JSON that was printed last, which is the object "it"
wants() {
    python3 - "$scratch/out" "$@" <<'END' || fail "the figures are wrong"
import json, sys
it = json.load(open(sys.argv[1]))
for wanted in sys.argv[2:]:
    if not eval(wanted):
        sys.exit("it is not so: " + wanted + "\n" + json.dumps(it))
END
}
# ask EXPECTED METHOD PATH [BODY]: status and answer, as one line of JSON
ask() {
    try 0 "$weft" run "$scratch/ask.mjs" "$url$3" "$2" "${4-}"
    out_is "$1"
}
cat >"$scratch/ask.mjs" <<'END'
const [, , url, method, body] = process.argv;
const response = await fetch(url, { method, body: body || undefined });
console.log(response.status, JSON.stringify(await response.json()));
END

start_redis
start_upstream 0
PORT=0 REDIS=unix:$scratch/redis UPSTREAM=$upstream_url "$weft" run "$examples/server.mjs" \
    >"$scratch/server.log" 2>"$scratch/server.err" &
server=$!
url=$(await "$scratch/server.log" "$server" '^http:')

# Answers.
ask '200 {"visits":1}' GET /visits
ask '200 {"visits":2}' GET '/visits?again'
ask '404 {"error":"There is no note first"}' GET /notes/first
ask '201 {"name":"first","length":16}' PUT /notes/first 'grüße, 世界 and'$'\r\n''x'
ask '200 {"name":"first","text":"grüße, 世界 and\r\nx"}' GET /notes/first
ask '200 {"name":"first","removed":true}' DELETE /notes/first
ask '200 {"name":"first","removed":false}' DELETE /notes/first
ask '200 {"number":0,"quote":"Simplicity is prerequisite for reliability.","from":"upstream"}' GET /quote
ask '200 {"number":0,"quote":"Simplicity is prerequisite for reliability.","from":"redis"}' GET /quote
ask '404 {"error":"There is no /nowhere"}' GET /nowhere
ask '405 {"error":"POST is not for /visits"}' POST /visits x
ask '400 {"error":"malformed UTF-8"}' GET /notes/%ff

# Load: all are answered, and every visit was counted.
try 0 "$weft" load -n 4000 -c 64 --json "$url/visits"
wants 'it["answered"] == 4000 and it["statuses"] == {"200": 4000} and sum(it["errors"].values()) == 0'
ask '200 {"visits":4003}' GET /visits
for path in /quote /stats; do
    try 0 "$weft" load -n 1500 -c 32 --json "$url$path"
    wants 'it["answered"] == 1500 and it["statuses"] == {"200": 1500} and sum(it["errors"].values()) == 0'
done
head -c 20000 /dev/zero | tr '\0' x >"$scratch/body"
try 0 "$weft" load -n 1000 -c 16 --json -X PUT --body "$scratch/body" "$url/notes/long"
wants 'it["answered"] == 1000 and it["statuses"] == {"201": 1000} and sum(it["errors"].values()) == 0'

# Redis goes, and comes back.
stop "$redis"
try 0 "$weft" load -n 20 -c 4 --json "$url/visits"
wants 'it["statuses"] == {"503": 20}'
start_redis
ask '200 {"visits":1}' GET /visits

# The upstream goes, and comes back.
stop "$upstream"
ask '502 {"error":"fetch failed"}' GET /quote
start_upstream "${upstream_url##*:}"
ask '200 {"number":0,"quote":"Simplicity is prerequisite for reliability.","from":"upstream"}' GET /quote

# The end, in the middle of requests: what has begun is answered, so all visits that were counted were told to somebody.
"$weft" load -d 1h -c 16 --json "$url/visits" >"$scratch/load" 2>&1 &
load=$!
try 0 "$weft" load -n 500 -c 8 --json "$url/visits"
kill -TERM "$server"
status=0
wait "$server" || status=$?
kill -INT "$load" 2>/dev/null || true
wait "$load" || true # its connections were ended
[ "$status" -eq 0 ] || fail "the server ended with $status: $(cat "$scratch/server.err")"
[ ! -s "$scratch/server.err" ] || fail "the server complained: $(cat "$scratch/server.err")"
grep -q '^SIGTERM: no more connections$' "$scratch/server.log" || fail "it does not say that it ends"
grep -qE '^served [0-9]+ requests$' "$scratch/server.log" || fail "it does not say how much it has done"
cp "$scratch/load" "$scratch/out"
wants 'it["answered"] > 0 and set(it["statuses"]) == {"200"}'
answered=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["answered"])' "$scratch/load")
cat >"$scratch/count.mjs" <<END
import { Redis } from '$examples/redis.mjs';
const redis = new Redis({ path: '$scratch/redis' });
console.log(await redis.get('visits'));
redis.close();
END
try 0 "$weft" run "$scratch/count.mjs"
out_is "$((1 + 500 + answered))"

# The same server in one process with a training that calls OpenBLAS: all requests are answered while it learns.
compgen -G '/usr/lib/*/libopenblas.so.0' >/dev/null || exit 0
PORT=0 ROUNDS=2 REDIS=unix:$scratch/redis UPSTREAM=$upstream_url "$weft" run "$examples/both.mjs" \
    >"$scratch/both.log" 2>"$scratch/server.err" &
server=$!
url=$(await "$scratch/both.log" "$server" '^http:')
try 0 "$weft" load -n 1000 -c 16 --json "$url/stats"
wants 'it["answered"] == 1000 and it["statuses"] == {"200": 1000} and sum(it["errors"].values()) == 0'
status=0
wait "$server" || status=$?
[ "$status" -eq 0 ] || fail "server and training ended with $status: $(cat "$scratch/server.err")"
[ "$(grep -c '^training [12]: loss' "$scratch/both.log")" -eq 2 ] || fail "it did not train: $(cat "$scratch/both.log")"
grep -qE '^served 1000 requests$' "$scratch/both.log" || fail "it did not serve all: $(cat "$scratch/both.log")"
