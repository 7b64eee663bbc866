// SPDX-License-Identifier: MIT
// Scripts in processes of their own, some at a time, in the order of their names: how each ended and what it said last.
import { execFile } from 'node:child_process';

const AT_ONCE = 3;

function run(options, text) {
    return new Promise((resolve) => {
        const child = execFile(process.execPath, ['run', ...options, '-e', text], { timeout: 60000, env: { ...process.env, NO_COLOR: '1' } },
            (error, out, complaint) => {
                const how = error === null ? 'exit 0' : error.signal ? `signal ${error.signal}` : `exit ${error.code}`;
                resolve({ how, out, complaint });
            });
        child.stdin?.end();
    });
}

// cases: name -> text. Tells each by show({ how, out, complaint }), in order.
export async function runAll(cases, options, show) {
    const names = Object.keys(cases);
    const results = names.map(() => undefined);
    let next = 0;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < names.length) {
            const i = next++;
            results[i] = await run(options, cases[names[i]]);
        }
    }));
    names.forEach((name, i) => console.log(`${name}:`, show(results[i])));
}

// The first line about an error.
export const errorIn = (text) => text.split('\n').find((line) => /^\S*Error\b/.test(line)) ?? text.split('\n')[0];
