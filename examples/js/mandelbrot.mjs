// SPDX-License-Identifier: MIT
// The Mandelbrot set on all processors: instances of the engine fill rows of a picture that they share, and the main one shows it.
// Run it with `weft run examples/js/mandelbrot.mjs [columns]`; compare `weft run --workers 1 ...`.
import { parallel } from 'weft:parallel';

const width = Number(process.argv[2] ?? 78), height = Math.round(width / 2.6), steps = 20_000;
const picture = new Uint8Array(new SharedArrayBuffer(width * height));

const began = performance.now();
const times = await parallel.map(([y, shared, columns, rows, limit]) => {
    let sum = 0;
    for (let x = 0; x < columns; x++) {
        const cr = (3 * x) / columns - 2.2, ci = (2.4 * y) / rows - 1.2;
        let zr = 0, zi = 0, n = 0;
        for (; n < limit && zr * zr + zi * zi < 4; n++)
            [zr, zi] = [zr * zr - zi * zi + cr, 2 * zr * zi + ci];
        shared[y * columns + x] = n === limit ? 0 : 1 + (n % 8);
        sum += n;
    }
    return sum;
}, Array.from({ length: height }, (_, y) => [y, picture, width, height, steps]), { chunk: 1 });
const seconds = (performance.now() - began) / 1000;

for (let y = 0; y < height; y++)
    console.log(Array.from(picture.subarray(y * width, (y + 1) * width), (shade) => '@.,:;i1tf'[shade]).join(''));
const total = times.reduce((sum, count) => sum + count);
console.log(`${(total / 1e6).toFixed(1)} million steps in ${seconds.toFixed(2)} s`);
