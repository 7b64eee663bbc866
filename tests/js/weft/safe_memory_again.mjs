// SPDX-License-Identifier: MIT
// run with --max-memory=8m
// However often there was no memory: what is let go is found, also what only the collector can find.
const hold = [];
let errors = 0;
for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 10; i++) {
        try {
            for (;;)
                hold.push(class { a() {} });
        } catch {
            errors++;
        }
    }
    hold.length = 0;
    const list = [];
    for (let i = 0; i < 10000; i++)
        list.push({ i });
}
console.log(errors, 'errors');
