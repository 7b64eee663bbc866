// Channels between instances: as those of weft:go, with clones for values; and what becomes of them when an instance dies.
import { go, chan, select } from 'weft:go';
import { spawn, channel } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.name, error.code ?? '', error.message];
    }
}
const show = (name, ...values) => console.log(name, ...values);

// In one instance it is a channel like any other, but for its values.
const own = channel(2), object = { a: [1] };
await own.send(object);
await own.send(undefined);
show('own', own.length, own.capacity, own.closed);
const got = await own.recv();
show('a clone', got, got !== object, await own.recv(), own.length, own.close(), own.close(), own.closed, await own.recv());
show('closed', ...await thrown(() => own.send(1)), ...await thrown(() => channel(1).send(() => 1)));
show('capacity', ...await thrown(() => channel(-1)), ...await thrown(() => channel('1')), channel().capacity);
show('local ones stay', ...await thrown(() => channel(1).send(chan(1))), ...await thrown(() => spawn((c) => c, chan())));

// There and back; with and without a buffer, from fibers and beside them.
for (const capacity of [0, 1, 8]) {
    const there = channel(capacity), back = channel(capacity);
    const echo = spawn((from, to) => {
        let count = 0;
        for (const value of from) {
            to.send({ echo: value });
            count++;
        }
        to.close();
        return count;
    }, there, back);
    const sending = go(() => {
        for (let i = 0; i < 5; i++)
            there.send(i);
        there.close();
    });
    const values = [];
    for await (const { echo: value } of back)
        values.push(value);
    await sending;
    show('echo', capacity, values.join(), await echo);
}

// A channel goes where a message goes, and is the same channel there.
const desk = channel(1), asking = spawn(async (questions) => {
    for await (const { question, answer } of questions)
        await answer.send(`${question}!`);
}, desk);
const answers = [];
for (const question of ['one', 'two']) {
    const answer = channel(1);
    await desk.send({ question, answer });
    answers.push(await answer.recv());
}
show('answers', ...answers);
const again = channel(1);
await again.send({ again, both: [again, again] });
const { again: copy, both } = await again.recv();
await copy.send('through another handle');
show('itself', await again.recv(), both[0] === both[1], both[0] === copy);
desk.close();
await asking;

// Buffers move, shared memory is shared.
const bytes = channel(1), moved = new Uint8Array([1, 2, 3]).buffer, shared = new SharedArrayBuffer(8);
await bytes.send({ moved, shared, view: new Uint8Array(moved, 1) }, { transfer: [moved] });
show('moved', moved.byteLength);
show('there', await spawn(async (channel) => {
    const { moved: buffer, shared: memory, view } = await channel.recv();
    Atomics.store(new Int32Array(memory), 1, 99);
    return [buffer.byteLength, view.buffer === buffer, view.join(), memory.byteLength];
}, bytes), new Int32Array(shared)[1]);
show('bad transfer', ...await thrown(() => bytes.send(1, { transfer: [1] })), ...await thrown(() => bytes.send(1, { transfer: [moved] })));

// Time and signals.
const quiet = channel();
show('timeout', ...await thrown(() => quiet.recv({ timeout: 1 })), ...await thrown(() => quiet.send(1, { timeout: 1 })));
for (const wait of [(options) => quiet.recv(options), (options) => quiet.send(1, options)]) {
    const controller = new AbortController();
    const waiting = wait({ signal: controller.signal });
    controller.abort(new Error('enough'));
    show('signal', ...await thrown(() => waiting), ...await thrown(() => wait({ signal: controller.signal })));
}
show('on a fiber', ...await go(() => {
    try {
        return [quiet.recv({ timeout: 1 })];
    } catch (error) {
        return [error.code, quiet.length];
    }
}));

// Select, beside channels of weft:go.
const local = chan(1), remote = channel(1);
await local.send('local');
show('select', await select([{ recv: local }, { recv: remote }]));
const sender = spawn((to) => to.send('remote'), remote);
show('select', await select([{ recv: local }, { recv: remote }]));
await sender;
show('select', await select([{ recv: local }, { send: remote, value: { sent: true } }]), await remote.recv());
show('select', await select([{ recv: remote }], { timeout: 1 }), await go(() => select([{ recv: remote }, { after: 1 }]).index));
show('select', ...await thrown(() => select([{ send: remote, value: () => 1 }])), remote.length);
remote.close();
show('select', await select([{ recv: remote }]), ...await thrown(() => select([{ send: remote, value: 1 }])));
