// Messages of ports come after timers and before immediates, a checkpoint after each; closing takes effect in the close phase.
const log = console.log;
const { port1, port2 } = new MessageChannel();
port2.onmessage = (event) => {
    log('message', event.data);
    process.nextTick(() => log('tick after', event.data));
    Promise.resolve().then(() => log('microtask after', event.data));
    if (event.data === 'last')
        port2.close();
};
port2.on('close', () => log('close of 2'));
setImmediate(() => {
    log('immediate 1');
    setImmediate(() => {
        log('immediate 3');
        setImmediate(() => log('immediate 4'));
    });
});
port1.postMessage('a');
port1.postMessage('b');
setImmediate(() => log('immediate 2'));
process.nextTick(() => log('tick'));
Promise.resolve().then(() => log('microtask'));
port1.postMessage('last');
port1.postMessage('behind the last one');

// Each port has its batch; what it adds for itself belongs to it.
const order = [];
const first = new MessageChannel(), second = new MessageChannel();
for (const [name, { port1: from, port2: to }] of Object.entries({ first, second })) {
    to.onmessage = ({ data }) => {
        order.push(name + data);
        if (data < 3)
            from.postMessage(data + 1);
        else
            to.close(() => log(order.join(' ')));
    };
    from.postMessage(1);
}
setImmediate(() => order.push('immediate'));

// The peer of a port that is closed gets what is under way first.
const closing = new MessageChannel();
closing.port2.on('message', (value) => log('under way:', value));
closing.port2.on('close', () => log('the peer hears of it'));
closing.port1.on('close', () => log('closed'));
log(closing.port1.postMessage(1));
closing.port1.close();
log(closing.port1.postMessage(2));
log('end of the script');
