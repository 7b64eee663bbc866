// Programs of random steps on streams, always the same ones: every event has to come in Node's order.
let seed = 1;
const programs = [
    5, 10, 13, 20, 26, 34, 35, 42, 48, 51, 53, 54, 55, 56, 57, 66, 71, 78, 88, 92, 94, 96, 99, 101, 102, 106, 108,
    110, 111, 112, 113, 125, 128, 133, 137, 141, 142, 144, 149, 154, 156, 157, 161, 163, 168, 183, 188, 191, 197,
    199, 200, 202, 211, 216, 219, 222, 227, 228, 230, 233, 238, 240, 242, 253, 254, 255, 258, 261, 275, 278, 285,
    308, 317, 318, 319, 320, 321, 332, 343, 346, 358, 359, 360, 362, 365, 369, 371, 389, 392, 393,
];

function random(limit) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 65536) % limit;
}

async function ticks(count) {
    for (let i = 0; i < count; i++) {
        await null;
    }
}

// What a function of a source or sink returns: nothing, a promise that is resolved, or one that takes a while.
function outcome(kind) {
    if (kind === 0) {
        return undefined;
    }
    return kind === 1 ? Promise.resolve() : ticks(kind);
}

class Program {
    constructor() {
        this.events = [];
        this.delays = [random(4), random(4), random(4), random(4)];
        this.next = 0;
        if (random(3) === 0) {
            this.makeTransform();
        } else {
            this.makePair();
        }
    }

    log(event) {
        this.events.push(event);
    }

    text(error) {
        return error instanceof Error ? error.name + ':' + error.message.split('\n')[0] : String(error);
    }

    watch(label, promise) {
        promise.then((value) => this.log(`${label}=${value === undefined ? '' : JSON.stringify(value)}`),
            (error) => this.log(`${label}!${this.text(error)}`));
    }

    makeTransform() {
        const stream = new TransformStream({
            start: (c) => { this.transformer = c; this.log('start'); return outcome(this.delays[0]); },
            transform: (chunk, c) => {
                this.log('transform ' + chunk);
                c.enqueue(chunk);
                if (random(3) === 0) {
                    c.enqueue(chunk + '+');
                }
                if (random(9) === 0) {
                    throw new RangeError('transform');
                }
                return outcome(this.delays[1]);
            },
            flush: () => { this.log('flush'); return outcome(this.delays[2]); },
        }, { highWaterMark: random(3) }, { highWaterMark: random(3) });
        this.readable = stream.readable;
        this.writable = stream.writable;
    }

    makePair() {
        let pulls = 0;
        this.readable = new ReadableStream({
            start: (c) => { this.source = c; this.log('start'); return outcome(this.delays[0]); },
            pull: random(2) === 0 ? undefined : (c) => {
                this.log('pull ' + c.desiredSize);
                if (pulls++ < 6) {
                    c.enqueue(this.next++);
                } else if (random(2) === 0) {
                    c.close();
                }
                if (random(12) === 0) {
                    throw new Error('pull');
                }
                return outcome(this.delays[1]);
            },
            cancel: (reason) => { this.log('cancel ' + reason); return outcome(this.delays[2]); },
        }, { highWaterMark: random(4) });
        this.writable = new WritableStream({
            start: (c) => { this.sink = c; this.log('start'); return outcome(this.delays[3]); },
            write: (chunk) => {
                this.log('write ' + chunk);
                if (random(10) === 0) {
                    throw new Error('write');
                }
                return outcome(this.delays[1]);
            },
            close: () => { this.log('close'); return outcome(this.delays[0]); },
            abort: (reason) => { this.log('abort ' + reason); return outcome(this.delays[2]); },
        }, { highWaterMark: random(4) });
    }

    readStep(i, step) {
        if (step < 3) {
            if (this.reader === undefined) {
                this.reader = this.readable.getReader();
                this.watch('closed ' + i, this.reader.closed);
            }
        } else if (step < 7) {
            if (this.reader !== undefined) {
                this.watch('read ' + i, this.reader.read());
            }
        } else if (step === 7) {
            if (this.reader !== undefined) {
                this.reader.releaseLock();
                this.reader = undefined;
            }
        } else if (step === 8 && random(3) === 0) {
            this.watch('cancelled ' + i, (this.reader || this.readable).cancel('c' + i));
        }
    }

    writeStep(i, step) {
        if (step < 3) {
            if (this.writer === undefined) {
                this.writer = this.writable.getWriter();
                this.watch('closed ' + i, this.writer.closed);
                this.watch('ready ' + i, this.writer.ready);
            }
        } else if (step < 7) {
            if (this.writer !== undefined) {
                this.watch('wrote ' + i, this.writer.write('x' + i));
                this.log('room ' + this.writer.desiredSize);
                this.watch('ready ' + i, this.writer.ready);
            }
        } else if (step === 7) {
            if (this.writer !== undefined && random(2) === 0) {
                this.watch('closing ' + i, this.writer.close());
            }
        } else if (random(3) === 0) {
            this.watch('aborted ' + i, (this.writer || this.writable).abort('a' + i));
        }
    }

    controlStep(step) {
        const controller = this.source || this.transformer;
        if (step < 5) {
            controller.enqueue('e' + this.next++);
        } else if (step === 5 && this.source !== undefined) {
            this.source.close();
        } else if (step === 6 && random(3) === 0) {
            controller.error(new Error('readable'));
        } else if (step === 7 && this.sink !== undefined && random(3) === 0) {
            this.sink.error(new Error('writable'));
        } else {
            this.log('room ' + controller.desiredSize);
        }
    }

    async run() {
        for (let i = 0; i < 16; i++) {
            const step = random(9);
            this.log('#');
            try {
                const which = random(3);
                if (which === 0) {
                    this.readStep(i, step);
                } else if (which === 1) {
                    this.writeStep(i, step);
                } else {
                    this.controlStep(step);
                }
            } catch (error) {
                this.log('threw ' + this.text(error));
            }
            await ticks(random(5));
        }
        await new Promise((resolve) => setTimeout(resolve, 0));
        return this.events.join(' ');
    }
}

(async () => {
    for (const number of programs) {
        seed = number * 7919 + 13;
        console.log(number + ' ' + await new Program().run());
    }
})();
