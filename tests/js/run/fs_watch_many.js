// More watchers than a kernel has sources of news for a user; several of one folder.
const fs = require('node:fs');
const path = require('node:path');

const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'weft-watch-'));
process.chdir(folder);
const COUNT = 300;
const told = new Set();
const watchers = [];
for (let i = 0; i < COUNT; i++) {
    fs.mkdirSync(`d${i}`);
    watchers.push(fs.watch(`d${i}`, (kind, name) => {
        if (kind !== 'rename' || name !== 'made')
            console.log('wrong', i, kind, name);
        told.add(i);
        if (told.size === COUNT) {
            console.log('all of them');
            for (const watcher of watchers)
                watcher.close();
            setImmediate(severalOfOne);
        }
    }));
}
for (let i = 0; i < COUNT; i++)
    fs.mkdirSync(`d${i}/made`);

function severalOfOne() {
    const order = [];
    const first = fs.watch('d0', (kind, name) => {
        order.push(`first ${kind} ${name}`);
        first.close();
        fs.rmdirSync('d0/two');
    });
    const second = fs.watch('d0', { persistent: false }, (kind, name) => {
        order.push(`second ${kind} ${name}`);
        if (order.length === 4) {
            console.log(order.join());
            second.close();
            second.close();
        }
        if (order.length === 2)
            fs.rmdirSync('d0/made');
    });
    first.on('close', () => order.push('closed'));
    second.on('close', () => goneAndBack());
    second.ref();
    fs.mkdirSync('d0/two');
}

// What was removed and made again is not watched, but the watcher can be closed, and another one sees the new folder.
function goneAndBack() {
    const kinds = new Set();
    const gone = fs.watch('d1', (kind) => kinds.add(kind));
    const parent = fs.watch('.', (kind, name) => {
        if (name !== 'd1')
            return;
        parent.close();
        fs.mkdirSync('d1');
        const again = fs.watch('d1', (kind2, name2) => {
            console.log('gone:', [...kinds].join(), '; again:', kind2, name2);
            gone.close();
            again.close();
            process.chdir('/');
            fs.rmSync(folder, { recursive: true });
        });
        fs.mkdirSync('d1/new');
    });
    fs.rmSync('d1', { recursive: true });
}
