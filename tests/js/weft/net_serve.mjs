// serve: handlers of all kinds, those that fail, limits, signals, and the end; listeners as iterators.
import { go, sleep } from 'weft:go';
import { connect, listen } from 'weft:net';

const ask = async (listener, text) => {
    const connection = await connect(listener.address);
    await connection.write(text);
    await connection.shutdown();
    const answer = new TextDecoder().decode(await connection.readAll());
    connection.close();
    return answer;
};

// Handlers that wait as fibers do, that are async, that throw before or after they have answered.
{
    const errors = [];
    const listener = listen({ port: 0, host: '127.0.0.1' });
    const served = listener.serve((connection) => {
        const order = connection.readLine();
        if (order === 'async')
            return (async () => { await connection.write('later'); })();
        connection.write('now');
        if (order === 'throw')
            throw new Error('a handler failed');
        if (order === 'reject')
            return Promise.reject(new Error('a handler rejected'));
        if (order === 'gone')
            throw Object.assign(new Error('not told'), { code: 'ECONNRESET' });
        return undefined;
    }, { onError: (error, connection) => errors.push(`${error.message}, closed: ${connection.closed}`) });
    for (const order of ['plain', 'async', 'throw', 'reject', 'gone', 'plain'])
        console.log(order, await ask(listener, `${order}\n`));
    listener.close();
    await served;
    console.log(errors);
}

// At most so many at a time.
{
    const listener = listen({ path: `@weft-serve-${process.pid}` });
    let now = 0, most = 0;
    const served = listener.serve((connection) => {
        most = Math.max(most, ++now);
        sleep(1);
        connection.write(connection.readAll());
        now--;
    }, { limit: 3 });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(listener, `${i};`)));
    console.log(answers.join(''), most);
    listener.close();
    await served;
}

// A signal closes the listener and the connections, whose handlers are waited for.
{
    const controller = new AbortController();
    const listener = listen(0);
    let ended = 0, connected = 0;
    const served = go(() => listener.serve((connection) => {
        connected++;
        try {
            connection.read();
        } finally {
            ended++;
        }
    }, { signal: controller.signal }));
    const clients = await Promise.all([1, 2, 3].map(() => connect(listener.port)));
    while (connected < 3)
        await sleep(1);
    controller.abort();
    await served;
    console.log(ended, listener.closed, await Promise.all(clients.map((client) => client.read())));
    console.log(await listen(0).serve(() => {}, { signal: AbortSignal.abort() }));
}

// As iterators, on a fiber and elsewhere: they end with the listener.
{
    const listener = listen(0);
    const seen = [];
    const loop = (async () => {
        for await (const connection of listener) {
            seen.push(await connection.readLine());
            connection.close();
        }
        return 'async';
    })();
    await ask(listener, 'one\n');
    await ask(listener, 'two\n');
    listener.close();
    console.log(await loop, seen);
    const second = listen(0);
    const fiber = go(() => {
        for (const connection of second) {
            connection.write('once');
            connection.close();
            second.close();
        }
        return 'fiber';
    });
    console.log(await ask(second, ''), await fiber);
}
