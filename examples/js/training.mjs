// SPDX-License-Identifier: MIT
// examples/js/training.mjs - a network learns, its matrices multiplied by OpenBLAS on several threads.
//
//     weft run examples/js/training.mjs --workers 4 --steps 60
//
// A network of two layers learns what another one, the teacher, says about random points. Each worker is a go fiber with its
// share of the points. In each step it goes forward and backward through a batch, by cblas_sgemm from a thread of its own,
// while the others, and whatever else the program does, go on; it sends its gradient over a channel. The trainer adds the
// gradients up, changes the weights and lets the workers do the next step.
//
// Other programs can import train(options): it waits for nothing but its workers, and keeps no loop busy.
import ffi from 'weft:ffi';
import { chan, go, scope } from 'weft:go';

const ROW_MAJOR = 101, PLAIN = 111, TURNED = 112;

// to = a * b, of which a has rows x inner numbers and b has inner x columns; "turned": it lies there the other way round.
function multiply(blas, [rows, inner, columns], a, b, to, aTurned = false, bTurned = false) {
    blas.cblas_sgemm(ROW_MAJOR, aTurned ? TURNED : PLAIN, bTurned ? TURNED : PLAIN, rows, columns, inner, 1,
        a, aTurned ? rows : inner, b, bTurned ? inner : columns, 0, to, columns);
}

export const defaults = {
    samples: 8192, inputs: 64, hidden: 48, outputs: 4, batch: 256, workers: 4, steps: 60, rate: 0.15, momentum: 0.9, seed: 1,
    library: 'libopenblas.so.0',
};

function openBlas(path) {
    const blas = ffi.open(path, {
        cblas_sgemm: ['void', ['enum', 'enum', 'enum', 'int', 'int', 'int', 'float', 'buffer', 'int', 'buffer', 'int', 'float',
            'buffer', 'int']],
        cblas_saxpy: ['void', ['int', 'float', 'buffer', 'int', 'buffer', 'int']],
        cblas_sscal: ['void', ['int', 'float', 'buffer', 'int']],
    });
    try { // each worker has a thread already
        ffi.open(path, { openblas_set_num_threads: ['void', ['int']] }).openblas_set_num_threads(1);
    } catch {
        // Another BLAS.
    }
    return blas;
}

// Numbers that look random, the same for the same seed.
function randomly(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

const fill = (length, random, scale) => Float32Array.from({ length }, () => (random() * 2 - 1) * scale);

// Both layers are in one array, so that a gradient is one message and one addition.
class Network {
    constructor({ inputs, hidden, outputs }, random) {
        this.sizes = { inputs, hidden, outputs };
        this.weights = new Float32Array(inputs * hidden + hidden * outputs);
        this.first = this.weights.subarray(0, inputs * hidden);
        this.second = this.weights.subarray(inputs * hidden);
        if (random) {
            this.first.set(fill(this.first.length, random, 1.7 / Math.sqrt(inputs)));
            this.second.set(fill(this.second.length, random, 1.7 / Math.sqrt(hidden)));
        }
    }
}

// What a worker needs for batches of one size.
class Pass {
    constructor(blas, network, batch) {
        const { inputs, hidden, outputs } = network.sizes;
        Object.assign(this, { blas, network, batch, inputs, hidden, outputs });
        this.active = new Float32Array(batch * hidden);
        this.answer = new Float32Array(batch * outputs);
        this.blame = new Float32Array(batch * hidden);
        this.gradient = new Network(network.sizes);
    }

    forward(points) {
        const { blas, network, batch, inputs, hidden, outputs, active, answer } = this;
        multiply(blas, [batch, inputs, hidden], points, network.first, active);
        for (let i = 0; i < active.length; i++)
            active[i] = Math.tanh(active[i]);
        multiply(blas, [batch, hidden, outputs], active, network.second, answer);
        return answer;
    }

    // The mean of the squared errors; the gradient of it is in this.gradient.
    backward(points, wanted) {
        const { blas, network, batch, inputs, hidden, outputs, active, answer, blame, gradient } = this;
        let loss = 0;
        for (let i = 0; i < answer.length; i++) {
            const error = answer[i] - wanted[i];
            loss += error * error;
            answer[i] = error * 2 / answer.length;
        }
        multiply(blas, [hidden, batch, outputs], active, answer, gradient.second, true);
        multiply(blas, [batch, outputs, hidden], answer, network.second, blame, false, true);
        for (let i = 0; i < blame.length; i++)
            blame[i] *= 1 - active[i] * active[i];
        multiply(blas, [inputs, batch, hidden], points, blame, gradient.first, true);
        return loss / answer.length;
    }
}

// Points, and what the teacher says about them.
function makeData(blas, options, count, random) {
    const teacher = new Network(options, randomly(options.seed + 1));
    const points = fill(count * options.inputs, random, 1);
    const wanted = new Pass(blas, teacher, count).forward(points).slice();
    return { points, wanted };
}

function work(blas, network, options, seed, orders, gradients) {
    const { inputs, outputs, batch } = options;
    const count = Math.max(batch, Math.floor(options.samples / options.workers));
    const { points, wanted } = makeData(blas, options, count, randomly(seed));
    const pass = new Pass(blas, network, batch);
    for (const step of orders) {
        const from = (step * batch) % (count - batch + 1);
        const some = points.subarray(from * inputs, (from + batch) * inputs);
        pass.forward(some);
        const loss = pass.backward(some, wanted.subarray(from * outputs, (from + batch) * outputs));
        gradients.send({ loss, gradient: pass.gradient.weights });
    }
}

// Returns the losses of all steps. onStep(step, loss) is told each one; a signal ends it early.
export async function train(given = {}) {
    const options = { ...defaults, ...given };
    const { workers, steps, rate, momentum, signal, onStep } = options;
    const blas = openBlas(options.library);
    const network = new Network(options, randomly(options.seed + 2));
    const speed = new Float32Array(network.weights.length);
    const gradients = chan(workers), orders = Array.from({ length: workers }, () => chan(1));
    const losses = [];
    await scope(async (children) => {
        for (let worker = 0; worker < workers; worker++)
            children.go(work, blas, network, options, options.seed + 100 + worker, orders[worker], gradients);
        await children.go(() => {
            for (let step = 0; step < steps && !signal?.aborted; step++) {
                for (const channel of orders)
                    channel.send(step);
                let loss = 0;
                blas.cblas_sscal(speed.length, momentum, speed, 1);
                for (let worker = 0; worker < workers; worker++) {
                    const from = gradients.recv();
                    loss += from.loss / workers;
                    blas.cblas_saxpy(speed.length, -rate * options.outputs / workers, from.gradient, 1, speed, 1);
                }
                blas.cblas_saxpy(speed.length, 1, speed, 1, network.weights, 1); // nobody reads them until the next order
                losses.push(loss);
                onStep?.(step, loss);
            }
            for (const channel of orders)
                channel.close();
        });
    });
    return losses;
}

async function main(words) {
    const { parseArgs } = await import('node:util');
    const numbers = Object.keys(defaults).filter((name) => typeof defaults[name] === 'number');
    const known = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]));
    const { values } = parseArgs({ args: words, options: known });
    for (const name of numbers)
        if (values[name] !== undefined)
            values[name] = Number(values[name]);
    const begun = performance.now();
    const { steps } = { ...defaults, ...values };
    const each = Math.max(1, Math.floor(steps / 10));
    const losses = await train({
        ...values,
        onStep(step, loss) {
            if (step % each === 0 || step === steps - 1)
                console.log(`step ${String(step).padStart(4)}  loss ${loss.toFixed(4)}`);
        },
    });
    console.log(`${losses.length} steps in ${((performance.now() - begun) / 1000).toFixed(2)} s`);
    if (!(losses.at(-1) < losses[0] / 2))
        throw new Error('it has not learnt much');
}

if (import.meta.filename === process.argv[1])
    await main(process.argv.slice(2));
