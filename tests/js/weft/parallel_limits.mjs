// Limits of each instance: memory, stack; what is shared counts for everybody who has it.
import { spawn, channel } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.name, error.message];
    }
}
const show = (name, ...values) => console.log(name, ...values);
const fill = (megabytes) => {
    const list = [];
    for (let i = 0; i < megabytes; i++)
        list.push(new Uint8Array(1e6));
    return list.length;
};

show('enough', await spawn.with({ memory: 64e6 }, fill, 20));
show('too much', ...await thrown(() => spawn.with({ memory: 16e6 }, fill, 20)));
show('caught', await spawn.with({ memory: 16e6 }, () => {
    let count = 0;
    try {
        for (const list = []; ;)
            list.push(new Uint8Array(1e6), count++);
    } catch (error) {
        return [error.name, count > 5 && count < 16];
    }
}));
show('objects', ...await thrown(() => spawn.with({ memory: 8e6 }, () => { for (const list = []; ;) list.push({ list }); })));
show('objects that stay', ...await thrown(() => spawn.with({ memory: 8e6 }, () => { for (globalThis.list = []; ;) list.push({ list }); })));
show('text', ...await thrown(() => spawn.with({ memory: 8e6 }, () => { for (let text = 'x'; ;) text += text; })));
show('shared', ...await thrown(() => spawn.with({ memory: 8e6 }, () => new SharedArrayBuffer(9e6))));
show('received', ...await thrown(async () => spawn.with({ memory: 8e6 }, (from) => from.recv(), await full(9e6))),
    await spawn.with({ memory: 8e6 }, async (from) => (await from.recv()).length, await full(1e6)));
show('transferred', ...await thrown(() => {
    const { buffer } = new Uint8Array(9e6);
    return spawn.with({ memory: 8e6, transfer: [buffer] }, (given) => given.byteLength, buffer);
}));
show('many', ...await thrown(async () => spawn.with({ memory: 16e6 }, (from) => {
    for (const kept = []; ;)
        kept.push(from.recv());
}, await endless())));
show('ours', fill(30));

async function full(size) {
    const one = channel(1);
    await one.send(new Uint8Array(size));
    return one;
}

async function endless() {
    const many = channel(64);
    for (let i = 0; i < 64; i++)
        await many.send(new Uint8Array(1e6));
    return many;
}

// Stacks.
const depth = () => {
    let count = 0;
    const down = () => { count++; down(); };
    try {
        down();
    } catch (error) {
        return [error.name, count];
    }
};
const [[name, usual], [, small], [, large]] = [await spawn(depth), await spawn.with({ stack: 512 * 1024 }, depth),
    await spawn.with({ stack: 16 << 20 }, depth)];
show('stack', name, usual > 4 * small, large > 3 * usual, ...await thrown(() => spawn(function down() { return down(); })));
