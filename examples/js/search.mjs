// SPDX-License-Identifier: MIT
// Searches a text in all files below a folder, eight files at a time, line by line, and prints where it stands.
// Run it with `weft run examples/js/search.mjs TEXT [FOLDER]`.
import { chan, go } from 'weft:go';
import { open, readdir } from 'weft:fs';
import { join } from 'node:path';

const [text = 'weft:fs', folder = '.'] = process.argv.slice(2);
const READERS = 8;
const isSkipped = (path) => /(^|\/)(\.git|build|node_modules)(\/|$)/.test(path);

const paths = chan(READERS);
let found = 0;

// No await in it: each call that waits lets the other readers go on.
function search() {
    for (const path of paths) {
        using file = open(path);
        let number = 0;
        for (const line of file.lines()) {
            number++;
            if (line.includes(text)) {
                found++;
                console.log(`${path}:${number}: ${line.trim().slice(0, 100)}`);
            }
        }
    }
}

const readers = Array.from({ length: READERS }, () => go(search));
await go(() => {
    for (const entry of readdir(folder, { entries: true, recursive: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && !isSkipped(path))
            paths.send(path);
    }
    paths.close();
});
await Promise.all(readers);
console.log(`${found} found`);
