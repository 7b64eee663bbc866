// SPDX-License-Identifier: MIT
// A service that starts in stages, each of which waits for others by events: whoever depends on something that fails, however far
// away, hears why. Run it with `weft run examples/js/stages.mjs`; with an argument, that stage fails.
import { all, create, queue } from 'weft:events';
import { go, sleep } from 'weft:go';

const stages = { config: [], database: ['config'], cache: ['config'], users: ['database', 'cache'], web: ['users', 'config'] };
const events = Object.fromEntries(Object.keys(stages).map((name) => [name, create()]));
const ended = queue();

for (const [name, needs] of Object.entries(stages)) {
    ended.add(events[name], name);
    go.with({ name }, () => {
        events[name].own(); // if this fiber dies, nobody waits for ever
        try {
            all(needs.map((need) => events[need])).wait();
            sleep(10);
            if (process.argv[2] === name)
                throw new Error(`${name} does not start`);
            events[name].trigger();
        } catch (error) {
            events[name].poison(error);
        }
    });
}
for await (const { tag, status, reason } of ended)
    console.log(`${tag}: ${status}${reason ? `, because ${reason.message}` : ''}`);
