#!/usr/bin/env bash
# Scripts with less memory than they need: under each of many limits another allocation is the one that fails. Whatever it is, the script
# ends by an error, or does without; the process does not crash, and does not hang.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
"$weft" run -e 'fetch' >/dev/null 2>&1 || exit 77

cat >"$scratch/words.mjs" <<'END'
console.log([1, 2, 3].map((n) => `${n}`).join(), JSON.stringify({ a: [1, { b: 2 }] }), new Map([[1, 2]]));
try {
    null.x;
} catch (error) {
    console.log(error.stack.length > 0);
}
END
cat >"$scratch/fibers.mjs" <<'END'
import { chan, go, select, sleep } from 'weft:go';
const numbers = chan();
const sum = go(() => {
    let all = 0;
    for (const n of numbers)
        all += n;
    return all;
});
await Promise.all([1, 2, 3].map((n) => go(() => (sleep(1), numbers.send(n)))));
numbers.close();
console.log(await sum);
setTimeout(() => console.log('timer'), 1);
process.nextTick(() => console.log('tick'));
END
cat >"$scratch/host.mjs" <<'END'
import { readFileSync } from 'node:fs';
import { Pool } from 'weft:pool';
import ffi from 'weft:ffi';
const { abs } = ffi.open(null, { abs: ['int', ['int']] });
console.log(abs(-1), readFileSync(new URL(import.meta.url)).length > 0, structuredClone(new Set([1])));
const pool = new Pool({ threads: 1 });
console.log(await pool.run(() => 2), await Promise.resolve(new Response('3').text()));
await pool.close();
const { port1, port2 } = new MessageChannel();
port2.onmessage = ({ data }) => {
    console.log(data);
    port1.close();
};
port1.postMessage({ four: new Uint8Array(4) });
END

ended=0
for name in words fibers host; do
    for ((limit = 40000; limit <= 1400000; limit += limit / 40)); do
        status=0
        timeout 60 "$weft" run --max-memory=$limit "$scratch/$name.mjs" >"$scratch/out" 2>&1 || status=$?
        case $status in
        0) ended=$((ended + 1)) ;;
        1 | 7 | 13 | 35) ;; # an error; one more while that was told; something that never comes, since its promise was not to be had
        *) fail "$name with $limit bytes ended with $status" ;;
        esac
    done
done
[ "$ended" -ge 3 ] || fail "with memory enough they do not end, either"
echo "ok"
