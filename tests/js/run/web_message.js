// SPDX-License-Identifier: MIT
// MessageChannel, MessagePort and BroadcastChannel in one instance.
const { receiveMessageOnPort } = require('node:worker_threads');
const log = console.log;
const attempt = (what) => {
    try {
        return what();
    } catch (error) {
        return `${error.name} ${error.code} ${error.message}`;
    }
};

function classes() {
    const channel = new MessageChannel();
    log(Object.keys(channel).join(), channel.port1 instanceof MessagePort, channel.port1 instanceof EventTarget,
        Object.prototype.toString.call(channel.port1), Object.prototype.toString.call(channel), MessageChannel.length, MessagePort.length);
    log(attempt(() => new MessagePort()));
    const { port1 } = channel;
    log(attempt(() => port1.postMessage()));
    log(attempt(() => port1.postMessage(1, 1)));
    log(attempt(() => port1.postMessage(1, [1])));
    log(attempt(() => port1.postMessage(1, { transfer: 1 })));
    log(attempt(() => port1.postMessage(1, null)), attempt(() => port1.postMessage(1, {})));
    log(attempt(() => port1.postMessage(() => 1)));
    log(attempt(() => port1.postMessage(port1, [port1])));
    log(attempt(() => port1.postMessage(port1)));
    log(attempt(() => structuredClone(port1)));
    log(port1.onmessage, port1.onmessageerror, port1.hasRef());
    port1.ref();
    log(port1.hasRef());
    port1.unref();
    log(port1.hasRef());
}

function listeners() {
    const { port1, port2 } = new MessageChannel();
    log(port1.on('any', () => {}) === port1, port1.emit('none'));
    port1.once('event', (...values) => log('once', values.join()));
    log(port1.emit('event', 1, 2), port1.emit('event', 3));
    const listener = (value) => log('listener', value);
    port1.on('message', listener);
    port1.on('message', listener);
    log(port1.listenerCount('message'), port1.hasRef());
    log(port1.emit('message', 'emitted'));
    port1.off('message', listener);
    log(port1.listenerCount('message'), port1.hasRef());
    port1.addEventListener('message', listener);
    log(port1.hasRef());
    port1.removeListener('message', listener);
    log(port1.listenerCount('message'), port1.hasRef());
    log(attempt(() => port1.on('message', 5)));
    port1.onmessage = listener;
    log(port1.onmessage === listener, port1.hasRef());
    port1.onmessage = null;
    log(port1.onmessage, port1.hasRef());
    log(port1.removeAllListeners() === port1);
    port2.close();
}

function queues() {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage({ a: [1, { b: new Date(5) }] });
    port1.postMessage(undefined);
    log(receiveMessageOnPort(port2), receiveMessageOnPort(port2), receiveMessageOnPort(port2));
    log(attempt(() => receiveMessageOnPort({})));
    const buffer = new Uint8Array([1, 2, 3]).buffer, shared = new SharedArrayBuffer(4);
    port1.postMessage({ buffer, view: new Uint8Array(buffer, 1), shared }, [buffer]);
    const { message } = receiveMessageOnPort(port2);
    new Uint8Array(shared)[0] = 7;
    log(buffer.byteLength, message.buffer.byteLength, message.view.join(), message.view.buffer === message.buffer,
        new Uint8Array(message.shared)[0]);
    const kept = new ArrayBuffer(3);
    log(attempt(() => port1.postMessage(() => {}, [kept])), kept.byteLength);
}

async function transferred() {
    const { port1, port2 } = new MessageChannel(), inner = new MessageChannel();
    inner.port1.postMessage('before the journey');
    const seen = [];
    await new Promise((done) => {
        port2.onmessage = (event) => {
            const { port } = event.data;
            seen.push(event.ports.length, event.ports[0] === port, port === inner.port2, port instanceof MessagePort);
            inner.port1.once('message', (value) => {
                seen.push(value);
                done();
            });
            port.onmessage = ({ data }) => {
                seen.push(data);
                port.postMessage('answer');
                port.close();
            };
        };
        port1.postMessage({ port: inner.port2 }, [inner.port2]);
        log(inner.port2.postMessage('from a port that has gone'), inner.port2.hasRef());
        log(attempt(() => port1.postMessage(1, [inner.port2])));
    });
    log(seen.join());
    port1.close();
}

// Who listens late misses nothing; what addEventListener hears is an event.
async function late() {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage('early');
    await new Promise(setImmediate);
    await new Promise((done) => port2.addEventListener('message', (event) => {
        log(event.constructor.name, event.type, event.data, event.target === port2, event.origin, event.lastEventId, event.source);
        done();
    }));
    await new Promise((done) => {
        port2.once('close', done);
        port1.close();
    });
    log(port2.postMessage('nobody hears it'));
}

async function broadcast() {
    const [one, two, other] = ['name', 'name', 'another name'].map((name) => new BroadcastChannel(name));
    const heard = [];
    one.onmessage = () => heard.push('the sender');
    other.onmessage = () => heard.push('another');
    await new Promise((done) => {
        two.onmessage = (event) => {
            heard.push(event.data.text, event.constructor.name, event.target === two);
            done();
        };
        one.postMessage({ text: 'hello' });
    });
    log(heard.join(), one.name, one, Object.prototype.toString.call(one));
    log(attempt(() => one.postMessage(() => 1)), attempt(() => one.postMessage()), attempt(() => new BroadcastChannel()));
    for (const channel of [one, two, other])
        channel.close();
    log(attempt(() => one.postMessage(1)), two.unref() === two, two.ref() === two);
}

(async () => {
    classes();
    listeners();
    queues();
    await transferred();
    await late();
    await broadcast();
})();
