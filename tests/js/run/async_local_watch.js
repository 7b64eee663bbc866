// Watchers share what tells them of files, but not their surroundings.
const fs = require('node:fs');
const path = require('node:path');
const { AsyncLocalStorage } = require('node:async_hooks');

const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'weft-watch-'));
const storage = new AsyncLocalStorage();
const told = [];
const watchers = ['first', 'second', undefined].map((name) => {
    const watch = () => fs.watch(folder, (kind, file) => {
        told.push(`${storage.getStore()} ${kind} ${file}`);
        if (told.length < 3)
            return;
        console.log(told.join());
        for (const watcher of watchers)
            watcher.close();
        fs.rmSync(folder, { recursive: true });
    });
    return name ? storage.run(name, watch) : watch();
});
storage.run('who makes it', () => fs.mkdirSync(path.join(folder, 'made')));
