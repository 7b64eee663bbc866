// Random sources, sinks and transforms, joined in random ways: all that happens, as one number for each case.
// With numbers, stream_random.js FIRST LAST prints what happens in these cases.
'use strict';
const { Readable, Writable, Transform, pipeline, finished } = require('node:stream');
const events = ['end', 'close', 'error', 'drain', 'pipe', 'unpipe', 'pause', 'resume', 'prefinish', 'finish'];
const isShown = process.argv.length > 2;
const first = Number(process.argv[2] ?? 1), last = Number(process.argv[3] ?? 400);
const later = () => new Promise((resolve) => { setImmediate(resolve); });

function brief(value) {
    if (value instanceof Error)
        return `${value.code}/${value.message}`;
    if (Buffer.isBuffer(value))
        return `<${value}>`;
    return typeof value === 'object' && value ? value.constructor.name : String(value);
}

class Case {
    constructor(number) {
        this.seed = number * 7919;
        this.sum = 2166136261;
        this.isSilent = false;
    }

    random(limit) {
        this.seed = (Math.imul(this.seed, 1103515245) + 12345) >>> 0;
        return (this.seed >>> 8) % limit;
    }

    say(text) {
        if (this.isSilent)
            return;
        if (isShown)
            console.log(text);
        for (let i = 0; i < text.length; i++)
            this.sum = Math.imul(this.sum ^ text.charCodeAt(i), 16777619) >>> 0;
    }

    delay(fn) {
        const kind = this.random(4);
        if (kind === 0)
            fn();
        else if (kind === 1)
            process.nextTick(fn);
        else if (kind === 2)
            Promise.resolve().then(fn);
        else
            setImmediate(fn);
    }

    source(name) {
        const made = this, total = this.random(6), isObject = this.random(3) === 0, burst = this.random(3);
        let left = total;
        this.hasEncoding = this.random(4) === 0 && !isObject;
        return new Readable({
            objectMode: isObject, highWaterMark: this.random(5), autoDestroy: this.random(5) > 0,
            encoding: this.hasEncoding ? 'utf8' : undefined,
            read() {
                made.say(`${name} _read`);
                made.delay(() => {
                    for (let i = 0; i <= burst; i++) {
                        if (left-- <= 0) {
                            if (made.random(8) === 0)
                                this.destroy(new Error(`${name} fails`));
                            else
                                this.push(null);
                            return;
                        }
                        if (!this.push(`c${total - left}`.repeat(1 + made.random(2))))
                            break;
                    }
                });
            },
        });
    }

    sink(name) {
        const made = this;
        const options = {
            objectMode: this.random(3) === 0, highWaterMark: this.random(6),
            write(chunk, encoding, callback) {
                made.say(`${name} _write ${brief(chunk)}`);
                const isBad = made.random(25) === 0;
                made.delay(() => callback(isBad ? new Error(`${name} bad`) : null));
            },
        };
        if (this.random(3) === 0) {
            options.writev = (chunks, callback) => {
                made.say(`${name} _writev ${chunks.map((each) => brief(each.chunk))}`);
                made.delay(callback);
            };
        }
        for (const step of ['final', 'construct']) {
            if (this.random(3) === 0) {
                options[step] = (callback) => {
                    made.say(`${name} _${step}`);
                    made.delay(() => callback());
                };
            }
        }
        return new Writable(options);
    }

    middle(name) {
        const made = this;
        return new Transform({
            readableObjectMode: this.random(4) === 0, readableHighWaterMark: this.random(5), writableHighWaterMark: this.random(5),
            transform(chunk, encoding, callback) {
                made.say(`${name} _transform ${brief(chunk)}`);
                const kind = made.random(3);
                if (kind === 0)
                    this.push(chunk);
                made.delay(() => {
                    if (kind === 1)
                        this.push(chunk);
                    if (made.random(30) === 0)
                        callback(new Error(`${name} bad`));
                    else
                        callback(null, kind === 2 ? chunk : undefined);
                });
            },
            flush(callback) {
                made.say(`${name} _flush`);
                made.delay(() => callback());
            },
        });
    }

    watch(name, stream) {
        for (const event of events)
            stream.on(event, (value) => this.say(`${name}.${event} ${brief(value)}`));
        return stream;
    }

    async iterate(source) {
        try {
            for await (const chunk of source) {
                this.say(`chunk ${brief(chunk)}`);
                if (this.random(6) === 0)
                    break;
            }
            this.say('no more chunks');
        } catch (error) {
            this.say(`threw ${brief(error)}`);
        }
    }

    flow(source, sink) {
        source.on('data', (chunk) => {
            this.say(`data ${brief(chunk)}`);
            if (this.random(3) === 0) {
                source.pause();
                this.delay(() => source.resume());
            }
        });
        for (let i = this.random(5); i >= 0; i--) {
            this.delay(() => {
                if (!sink.writableEnded)
                    this.say(`write ${sink.write('zz', (error) => this.say(`written ${brief(error)}`))}`);
            });
        }
        setImmediate(() => setImmediate(() => sink.end((error) => this.say(`ended ${brief(error)}`))));
    }

    read(source, sink) {
        source.on('readable', () => {
            const size = (!this.hasEncoding && this.random(4)) || undefined;
            for (let chunk; (chunk = source.read(size)) !== null;)
                this.say(`got ${brief(chunk)}`);
        });
        finished(sink, (error) => this.say(`sink finished ${brief(error)}`));
        this.delay(() => sink.end('last'));
        if (this.random(2))
            this.delay(() => sink.destroy());
    }

    join(source, sink) {
        const done = (error) => this.say(`done ${brief(error)}`);
        switch (this.random(7)) {
        case 0:
            return source.pipe(sink);
        case 1:
            return source.pipe(this.watch('t', this.middle('t'))).pipe(sink);
        case 2:
            return pipeline(source, this.watch('t', this.middle('t')), sink, done);
        case 3:
            return this.flow(source, sink);
        case 4:
            return this.read(source, sink);
        case 5:
            this.iterate(source);
            return pipeline(async function* () {
                yield 'q';
                yield 'w';
            }, sink, done);
        default:
            source.pipe(sink, { end: false });
            source.pipe(this.watch('w2', this.sink('w2')));
            this.delay(() => (this.random(2) ? source.unpipe(sink) : source.destroy()));
            return finished(source, (error) => this.say(`source finished ${brief(error)}`));
        }
    }

    async run() {
        const r = this.watch('r', this.source('r')), w = this.watch('w', this.sink('w'));
        this.join(r, w);
        for (let i = 0; i < 40; i++)
            await later();
        this.say([r.destroyed, r.readableEnded, r.readableLength, r.readableFlowing, r.readableAborted, w.destroyed,
            w.writableFinished, w.writableLength, w.writableNeedDrain, w.writableAborted].join());
        this.isSilent = true;
        for (const stream of [r, w]) {
            stream.removeAllListeners();
            stream.on('error', () => {});
            stream.destroy();
        }
        await later();
        return this.sum;
    }
}

process.on('uncaughtException', (error) => console.log(`uncaught ${error}`));
(async () => {
    for (let i = first; i <= last; i++)
        console.log(`${i} ${(await new Case(i).run()).toString(16)}`);
})();
