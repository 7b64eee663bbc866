// SPDX-License-Identifier: MIT
// js/lib/worker.js - Worker of node:worker_threads: another instance (js/lib/spawn.js) with a port between the two.
// host: argumentsOf(), environment(), compile(text, name)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { Instance, exitCodeOf } = need('spawn');
    const { MessageChannel } = need('message');
    const { invalidArgument, withCode } = need('errors');
    const shareEnv = Symbol.for('nodejs.worker_threads.SHARE_ENV');
    const MEGABYTE = 1 << 20;
    let lastId = 0; // of workers that this instance has started

    // A file by an absolute path, by one that begins with a dot, or by a URL.
    function toURL(name) {
        const { toURL: ofFile, fileURLToPath } = need('module');
        if (name instanceof URL)
            return ofFile(fileURLToPath(name));
        if (typeof name !== 'string')
            throw invalidArgument('filename', ['string', 'URL'], name);
        if (!/^(\.{0,2}\/)/.test(name))
            throw withCode(new TypeError('The worker script or module filename must be an absolute path or a relative path '
                + `starting with './' or '../'. Received "${name}"`), 'ERR_WORKER_PATH');
        return ofFile(need('path').resolve(host.cwd(), name));
    }

    function limitsOf({ maxOldGenerationSizeMb, stackSizeMb } = {}) {
        return {
            memory: maxOldGenerationSizeMb > 0 ? maxOldGenerationSizeMb * MEGABYTE : undefined,
            stack: stackSizeMb > 0 ? stackSizeMb * MEGABYTE : undefined,
        };
    }

    class Worker extends EventEmitter {
        #port;
        #instance;
        #isEnding = false;

        constructor(filename, options = {}) {
            super();
            const { argv = [], env = process.env, workerData, transferList = [], name = '', eval: isText = false } = options;
            const program = isText ? { text: `${filename}` } : { url: toURL(filename) };
            const [mine, theirs] = Object.values(new MessageChannel());
            const news = new MessageChannel();
            const setting = {
                ...program, argv: argv.map(String), env: env === shareEnv ? undefined : { ...env }, workerData,
                port: theirs, news: news.port2, threadId: ++lastId, name,
            };
            this.threadId = lastId;
            this.#port = mine;
            this.resourceLimits = options.resourceLimits ?? {};
            news.port1.on('message', () => this.emit('online')); // before it begins, so that its messages come before its end
            mine.on('message', (value) => this.emit('message', value));
            mine.on('messageerror', (error) => this.emit('messageerror', error));
            try {
                this.#instance = new Instance({ name: name || 'worker', transfer: [theirs, news.port2, ...transferList],
                    ...limitsOf(options.resourceLimits) }, { library: 'worker_side' }, [setting]);
            } catch (error) {
                mine.close();
                news.port1.close();
                throw error;
            }
            this.#instance.then(() => this.#over(exitCodeOf(this.#instance)), (error) => this.#failed(error));
        }

        #failed(error) {
            const hasCode = error.code === 'ERR_INSTANCE_EXIT' || error.code === 'ERR_INSTANCE_UNSETTLED';
            if (!hasCode && !this.#isEnding)
                this.emit('error', memoryError(error));
            this.#over(hasCode ? error.exitCode : 1);
        }

        #over(code) {
            this.threadId = -1;
            this.emit('exit', code);
        }

        postMessage(...values) {
            this.#port.postMessage(...values);
        }

        terminate() {
            if (this.threadId === -1)
                return Promise.resolve();
            this.#isEnding = true;
            this.#instance.terminate();
            return new Promise((done) => this.once('exit', done));
        }

        ref() {
            this.#instance.ref();
            this.#port.ref();
        }

        unref() {
            this.#instance.unref();
            this.#port.unref();
        }
    }

    function memoryError(error) {
        if (error.code !== 'ERR_INSTANCE_MEMORY' && error.message !== 'out of memory')
            return error;
        return withCode(new Error('Worker terminated due to reaching memory limit: JS heap out of memory'),
            'ERR_WORKER_OUT_OF_MEMORY');
    }

    return { Worker, shareEnv };
})
