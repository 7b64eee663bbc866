// examples/js/redis.mjs against a server that says what it is told to: answers of all kinds, pipelines, errors, the pool, and
// connections that break.
import { go, sleep } from 'weft:go';
import { listen } from 'weft:net';
import { Redis, RedisError } from '../../../examples/js/redis.mjs';

const path = `@weft-redis-${process.pid}`;
const text = (bytes) => new TextDecoder().decode(bytes);
let opened = 0, now = 0, most = 0;

// The words of one command.
function readCommand(connection) {
    const head = connection.readLine();
    if (head === null)
        return null;
    return Array.from({ length: Number(head.slice(1)) }, () => {
        const size = Number(connection.readLine().slice(1));
        return text(connection.readFull(size + 2).subarray(0, size));
    });
}

const counts = new Map();
const answers = {
    PING: () => '+PONG\r\n',
    GET: (connection, key) => (key === 'none' ? '$-1\r\n' : `$${new TextEncoder().encode(key).length}\r\n${key}\r\n`),
    SET: (connection, key, value, ...rest) => `+${[key, value.length, ...rest]}\r\n`,
    INCR: (connection, key) => {
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return `:${counts.get(key)}\r\n`;
    },
    DEL: (connection, ...keys) => `:${keys.length}\r\n`,
    NESTED: () => '*3\r\n:1\r\n*2\r\n$1\r\na\r\n*-1\r\n*0\r\n',
    WRONG: () => '-WRONGTYPE it is not of that kind\r\n',
    NONSENSE: () => 'what?\r\n',
    SLOW: () => {
        most = Math.max(most, ++now);
        sleep(5);
        now--;
        return '+OK\r\n';
    },
    NEVER: () => '',
    QUIT: (connection) => {
        connection.close();
        return '';
    },
    IDLE: (connection) => { // answers, and then does not want any more
        go(() => connection.shutdown());
        return '+OK\r\n';
    },
};

function serve() {
    const listener = listen({ path });
    listener.serve((connection) => {
        opened++;
        for (let words; (words = readCommand(connection)) !== null;) {
            const answer = answers[words[0]](connection, ...words.slice(1));
            if (!connection.closed)
                connection.write(answer);
        }
    });
    return listener;
}

let listener = serve();
const redis = new Redis({ path, size: 4, timeout: 500, attempts: 2 });
const failed = (error) => `${error.name} ${error.code} ${error.message}`;

console.log(await redis.command('PING'), await redis.get('grüße'), await redis.get('none'));
console.log(await redis.set('a', 'text', { seconds: 5 }));
await go(() => {
    console.log(redis.incr('n'), redis.incr('n'), redis.del('a', 'b', 'c'), JSON.stringify(redis.command('NESTED')));
    console.log(redis.set('bytes', new Uint8Array([0, 255, 13, 10])), redis.set('number', 12345));
    try {
        redis.command('WRONG');
    } catch (error) {
        console.log(error instanceof RedisError, failed(error));
    }
    const many = redis.pipeline([['INCR', 'n'], ['WRONG'], ['GET', 'x'], ['NESTED']]);
    console.log(many.map((value) => (value instanceof Error ? value.code : value)), redis.pipeline([]));
    const long = redis.pipeline(Array.from({ length: 2000 }, (_, i) => ['GET', `value ${i}`]));
    console.log(long.length, long[1999]);
});
console.log('connections', opened);

// No more than the pool has.
await Promise.all(Array.from({ length: 20 }, () => redis.command('SLOW')));
console.log(most, opened);

// Broken connections are not used again, and those that ended at rest are noticed before.
console.log(await redis.command('NONSENSE').catch(failed));
console.log(await redis.command('NEVER').catch(failed));
console.log(await redis.command('QUIT').catch(failed));
console.log(await redis.command('IDLE'));
await sleep(5);
console.log(await redis.command('PING'));

// Nobody there; and there again while somebody tries.
listener.close();
const alone = new Redis({ path, attempts: 2 });
console.log(await alone.command('PING').catch((error) => error.code));
const later = new Redis({ path, attempts: 10 }).command('PING');
await sleep(5);
listener = serve();
console.log(await later);

redis.close();
try {
    redis.get('x');
} catch (error) {
    console.log(failed(error));
}
listener.close();
