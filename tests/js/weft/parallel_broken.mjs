// An instance that dies is not waited for: channels whose other end it had are broken for the last one that has them.
import { go, select } from 'weft:go';
import { spawn, channel } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.name, error.code ?? '', error.message];
    }
}
const show = (name, ...values) => console.log(name, ...values);
const deaths = {
    throws: () => { throw new Error('dies'); },
    exits: () => process.exit(1),
    'has no memory': () => { for (const list = []; ;) list.push(new Array(1000).fill(1)); },
};

for (const [name, die] of Object.entries(deaths)) {
    const [input, output, empty, full] = [channel(4), channel(4), channel(), channel()];
    await input.send('for the child');
    const dying = spawn.with({ memory: 8e6 }, async (text, from, to, ...others) => {
        await to.send(`last words: ${await from.recv()}`);
        // eslint-disable-next-line no-eval
        (0, eval)(`(${text})`)(others);
    }, `${die}`, input, output, empty, full);
    const waiting = [thrown(() => empty.recv()), thrown(() => go(() => full.send(1))), thrown(() => select([{ recv: empty }]))];
    show(name, ...(await thrown(() => dying)).slice(0, 2));
    show('  what it has sent', await output.recv(), ...await thrown(() => output.recv()));
    show('  what it should have had', ...await thrown(() => input.send(1)));
    show('  who waited', ...(await Promise.all(waiting)).flat());
    show('  later', ...await thrown(() => empty.recv()), ...await thrown(() => select([{ send: empty, value: 1 }])), empty.closed);
}

// Ended by force, in the middle of whatever it does.
for (const [name, fn] of Object.entries({
    'endless loop': (channel) => { for (;;); },
    waiting: (channel) => channel.recv(),
    'waiting for nothing': () => new Promise(() => setInterval(() => {}, 1000)),
})) {
    const both = channel();
    const instance = spawn(fn, both);
    const waiting = thrown(() => (name === 'waiting' ? both.recv({ timeout: 1e6 }) : both.recv()));
    await instance.terminate(new Error(`enough of ${name}`));
    show(name, ...await thrown(() => instance), ...(await waiting).slice(0, 2), both.closed);
}

// A question to the dead: its channel for the answer breaks, too, wherever the question was.
for (const when of ['unread', 'read', 'being read']) {
    const questions = channel(when === 'being read' ? 0 : 2), answer = channel(1);
    const instance = spawn(async (from, isRead) => {
        if (isRead)
            await from.recv();
        process.exit(4);
    }, questions, when !== 'unread');
    const end = thrown(() => instance);
    show(when, ...await thrown(async () => {
        await questions.send({ answer }); // unless it is dead already
        return answer.recv();
    }), ...await end);
}

// As long as there is another who has it, a channel goes on; nor does it break by a good end.
const jobs = channel(4), results = channel(4);
const good = spawn((from, to) => { for (const job of from) to.send(job * 2); }, jobs, results);
await jobs.send(1);
show('another', await results.recv(), ...(await thrown(() => spawn(() => { throw new Error('dies'); }, jobs))).slice(2), jobs.closed);
await jobs.send(2);
jobs.close();
show('goes on', await results.recv(), await good, results.closed);
await spawn((to) => to.send('once more'), results);
show('used again', await results.recv(), results.closed);
show('broken for good', ...await thrown(() => spawn(() => process.exit(1), results)), ...await thrown(() => results.recv()));
show('and for whoever gets it', ...await thrown(() => spawn((from) => from.recv(), results)));
