// Very many files at a time, on fibers and elsewhere; each gets what is its own.
import { go } from 'weft:go';
import fs from 'node:fs';
import * as files from 'weft:fs';

const folder = await files.mkdtemp();
process.chdir(folder);
const COUNT = 600;
const numbers = Array.from({ length: COUNT }, (unused, i) => i);
await Promise.all(numbers.map((i) => files.writeFile(`f${i}`, `${i}:`.repeat(i + 1))));
const check = (text, i) => text === `${i}:`.repeat(i + 1);
console.log((await Promise.all(numbers.map((i) => files.readText(`f${i}`)))).every(check));
console.log((await Promise.all(numbers.map((i) => go(() => files.readText(`f${i}`))))).every(check));
console.log((await Promise.all(numbers.map((i) => fs.promises.readFile(`f${i}`, 'utf8')))).every(check));
console.log((await Promise.all(numbers.map((i) => new Promise((resolve, reject) => {
    fs.readFile(`f${i}`, 'utf8', (error, text) => (error ? reject(error) : resolve(text)));
})))).every(check));

// One file, many readers at places of their own, and writers.
const file = await files.open('shared', 'w+');
await Promise.all(numbers.map((i) => file.pwrite(String(i).padStart(8), 8 * i)));
const parts = await Promise.all(numbers.map((i) => (i % 2 ? file.pread(8, 8 * i) : go(() => file.pread(8, 8 * i)))));
console.log(parts.every((bytes, i) => Number(new TextDecoder().decode(bytes)) === i), (await file.stat()).size);
await file.close();

// Appending: whole pieces, in some order.
await Promise.all(numbers.map((i) => files.appendFile('log', `line ${i}\n`)));
console.log(new Set((await files.readText('log')).split('\n')).size === COUNT + 1);

// Folders made and removed by many.
await Promise.all(numbers.map((i) => files.mkdir(`d/${i % 7}/${i % 5}/${i}`, { recursive: true })));
console.log((await files.readdir('d', { recursive: true })).length);
await Promise.all(numbers.slice(0, 7).map((i) => files.rm(`d/${i}`, { recursive: true })));
console.log(await files.readdir('d'));

// Very many small calls, eight at a time.
let left = 20000;
await Promise.all(Array.from({ length: 8 }, () => go(() => {
    while (left-- > 0)
        files.exists(`f${left % COUNT}`);
})));
console.log(left < 0);
await files.rm(folder, { recursive: true });
