// Producers and consumers over a queue written by hand.
const log = (text) => console.log(text);
class Queue {
    #items = []; #waiting = []; #closed = false;
    push(item) {
        if (this.#waiting.length) this.#waiting.shift()({ value: item, done: false });
        else this.#items.push(item);
    }
    close() { this.#closed = true; for (const wake of this.#waiting.splice(0)) wake({ value: undefined, done: true }); }
    next() {
        if (this.#items.length) return Promise.resolve({ value: this.#items.shift(), done: false });
        if (this.#closed) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.#waiting.push(resolve));
    }
    [Symbol.asyncIterator]() { return this; }
}
const q = new Queue();
const consume = async (name) => {
    for await (const item of q) { log(`${name} takes ${item}`); if (item % 3 === 0) await null; }
    log(`${name} leaves`);
};
consume('x'); consume('y');
(async () => { for (let i = 0; i < 8; i++) { log(`push ${i}`); q.push(i); if (i % 2) await null; } })();
setTimeout(() => {
    q.push('late');
    q.push('later');
    process.nextTick(() => log('tick'));
    queueMicrotask(() => log('micro'));
    setImmediate(() => { log('closing'); q.close(); });
}, 1);
