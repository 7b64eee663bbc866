// Ports between instances: MessageChannel and BroadcastChannel.
import { spawn, channel } from 'weft:parallel';

const show = (name, ...values) => console.log(name, ...values);
const next = (port, type = 'message') => new Promise((done) => port.once(type, done));

// A port goes to another instance, and its queue with it; so does a port that is part of a message there.
const { port1, port2 } = new MessageChannel();
port1.postMessage({ text: 'before the journey' });
const echo = spawn.with({ transfer: [port2] }, (port) => new Promise((done) => {
    const seen = [];
    port.onmessage = ({ data, ports }) => {
        seen.push(data.text);
        if (data.text === 'end')
            port.close(() => done(seen));
        else
            (ports[0] ?? port).postMessage(`${data.text}: ${ports.length}, ${data.bytes?.length}, ${data.map?.get('key')}`);
    };
}), port2);
show('answer', await next(port1));
const bytes = new Uint8Array(10_000);
port1.postMessage({ text: 'bytes', bytes, map: new Map([['key', 'value']]) }, [bytes.buffer]);
show('answer', await next(port1), bytes.length);
const inner = new MessageChannel();
port1.postMessage({ text: 'port', inner: inner.port2 }, { transfer: [inner.port2] });
show('answer', await next(inner.port1));
port1.postMessage({ text: 'end' });
await next(port1, 'close');
show('seen', await echo);

// Both ends in other instances.
const line = new MessageChannel();
const [left, right] = [line.port1, line.port2].map((port, index) => spawn.with({ transfer: [port] }, (mine, number) => new Promise((done) => {
    let count = 0;
    mine.onmessage = ({ data }) => {
        count++;
        if (data === 0) {
            mine.close();
            done(count);
        } else {
            mine.postMessage(data - 1);
        }
    };
    mine.on('close', () => done(count));
    if (number === 0)
        mine.postMessage(1000);
}), port, index));
show('between them', (await left) + (await right));

// Whatever ends an instance closes its ports.
for (const [name, end] of Object.entries({
    returns: () => 'fine',
    exits: () => process.exit(2),
    throws: () => { throw new Error('thrown'); },
    'is ended': (port) => { port.postMessage('ready'); for (;;); },
})) {
    const { port1: mine, port2: theirs } = new MessageChannel();
    const closed = next(mine, 'close');
    const instance = spawn.with({ transfer: [theirs] }, end, theirs);
    const result = instance.then((value) => value, (error) => error.message);
    if (name === 'is ended')
        mine.once('message', () => instance.terminate(new Error('by force')));
    mine.ref();
    await closed;
    show(name, await result, mine.postMessage('nobody'));
}
const lost = new MessageChannel();
lost.port1.ref();
const unseen = next(lost.port1, 'close');
await spawn.with({ transfer: [lost.port2] }, () => {}, lost.port2).terminate();
await unseen;
show('nobody looked');

// Many messages, in order.
const many = new MessageChannel();
const counter = spawn.with({ transfer: [many.port2] }, (port) => new Promise((done) => {
    let expected = 0;
    port.onmessage = ({ data }) => {
        if (data !== expected)
            done(`${data} instead of ${expected}`);
        if (++expected === 20_000)
            done('in order', port.close());
    };
}), many.port2);
for (let i = 0; i < 20_000; i++)
    many.port1.postMessage(i);
show('many', await counter);

// A broadcast reaches all instances that have the name, and not its sender.
const ready = channel(), heard = channel(8);
const listeners = [1, 2, 3].map((number) => spawn((to, here, mine) => new Promise((done) => {
    const radio = new BroadcastChannel('news');
    const other = new BroadcastChannel('other news');
    other.onmessage = () => here.send('wrong');
    radio.onmessage = async ({ data }) => {
        await to.send(`${mine} ${data.text} ${data.bytes.length}`);
        radio.close();
        other.close();
        done();
    };
    here.send(mine);
}), heard, ready, number));
for (const number of [1, 2, 3])
    await ready.recv();
const radio = new BroadcastChannel('news');
radio.onmessage = () => show('an echo');
radio.postMessage({ text: 'extra', bytes: new Uint8Array(5000) });
const echoes = [await heard.recv(), await heard.recv(), await heard.recv()];
show('broadcast', ...echoes.sort());
await Promise.all(listeners);
radio.close();
