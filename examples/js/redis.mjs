// A small client for Redis, on connections of weft:net: a pool of them, commands one by one or many in one go, errors, and
// connections that are made again when they have broken.
//
//     const redis = new Redis({ host: 'localhost', port: 6379 });
//     redis.set('name', 'value', { seconds: 60 });          // in a fiber; elsewhere: await redis.set(...)
//     const [count, name] = redis.pipeline([['INCR', 'visits'], ['GET', 'name']]);
//     redis.close();
//
// On a fiber calls return their results; elsewhere they return promises. What Redis refuses is a RedisError; what happens to the
// network is the error of weft:net. A command whose answer did not come is not sent again: nobody knows whether it was carried
// out. But a connection that Redis has closed meanwhile is noticed before it is used, and one that cannot be made is tried again.
import { Channel, go, isFiber, sleep } from 'weft:go';
import { connect } from 'weft:net';

export class RedisError extends Error {
    constructor(message) {
        super(message);
        this.name = 'RedisError';
        this.code = message.split(' ', 1)[0]; // ERR, WRONGTYPE, ...
    }
}

const encoder = new TextEncoder(), decoder = new TextDecoder();

// *2\r\n$3\r\nGET\r\n$3\r\nkey\r\n: a text if all of it is, else bytes.
function encode(commands) {
    const parts = [];
    let isText = true;
    for (const command of commands) {
        parts.push(`*${command.length}\r\n`);
        for (const word of command) {
            const value = word instanceof Uint8Array ? word : String(word);
            isText &&= typeof value === 'string';
            parts.push(`$${typeof value === 'string' ? encoder.encode(value).length : value.length}\r\n`, value, '\r\n');
        }
    }
    if (isText)
        return parts.join('');
    const bytes = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part));
    const whole = new Uint8Array(bytes.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of bytes) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

// One answer, of whatever kind. An error in it is a value here.
function readAnswer(connection, options) {
    const line = connection.readLine(options);
    if (line === null)
        throw Object.assign(new Error('Redis has closed the connection'), { code: 'ECONNRESET' });
    const rest = line.slice(1);
    switch (line[0]) {
    case '+': return rest;
    case '-': return new RedisError(rest);
    case ':': return Number(rest);
    case '$': {
        const size = Number(rest);
        if (size < 0)
            return null;
        return decoder.decode(connection.readFull(size + 2, options).subarray(0, size)); // with its \r\n
    }
    case '*': {
        if (Number(rest) < 0)
            return null;
        return Array.from({ length: Number(rest) }, () => readAnswer(connection, options));
    }
    default: throw Object.assign(new Error(`Not an answer of Redis: ${line.slice(0, 40)}`), { code: 'EPROTO' });
    }
}

export class Redis {
    #address;
    #timeout;
    #attempts;
    #slots; // one value for each connection that is in use
    #idle = [];
    #isClosed = false;

    // size: so many connections at most; timeout: milliseconds for one answer; attempts: to connect.
    constructor({ host = 'localhost', port = 6379, path, size = 8, timeout = 5000, attempts = 5 } = {}) {
        this.#address = path === undefined ? { host, port } : { path };
        this.#timeout = timeout;
        this.#attempts = attempts;
        this.#slots = new Channel(size);
    }

    // ---- Commands ----

    command(...words) {
        return this.#run(() => {
            const [answer] = this.#exchange([words]);
            if (answer instanceof RedisError)
                throw answer;
            return answer;
        });
    }

    // All commands in one write, then all answers: an array of them, in which errors are values.
    pipeline(commands) {
        return this.#run(() => (commands.length === 0 ? [] : this.#exchange(commands)));
    }

    get(key) {
        return this.command('GET', key);
    }

    set(key, value, { seconds } = {}) {
        return seconds === undefined ? this.command('SET', key, value) : this.command('SET', key, value, 'EX', seconds);
    }

    incr(key) {
        return this.command('INCR', key);
    }

    del(...keys) {
        return this.command('DEL', ...keys);
    }

    close() {
        this.#isClosed = true;
        for (const connection of this.#idle.splice(0))
            connection.close();
    }

    // ---- Connections ----

    #run(fn) {
        if (this.#isClosed)
            throw Object.assign(new Error('This client was closed'), { code: 'ERR_CLOSED' });
        return isFiber() ? fn() : go(fn);
    }

    #exchange(commands) {
        this.#slots.send(true);
        let connection;
        try {
            connection = this.#take();
            connection.write(encode(commands), { timeout: this.#timeout });
            const answers = commands.map(() => readAnswer(connection, { timeout: this.#timeout }));
            this.#give(connection);
            return answers;
        } catch (error) {
            connection?.close(); // who knows what would come next on it
            throw error;
        } finally {
            this.#slots.recv();
        }
    }

    #take() {
        for (let connection; (connection = this.#idle.pop());) {
            if (isSilent(connection))
                return connection;
            connection.close();
        }
        for (let attempt = 1; ; attempt++) {
            try {
                return connect(this.#address, { timeout: this.#timeout });
            } catch (error) {
                if (attempt >= this.#attempts || this.#isClosed)
                    throw error;
                sleep(10 * 2 ** attempt);
            }
        }
    }

    #give(connection) {
        if (this.#isClosed)
            connection.close();
        else
            this.#idle.push(connection);
    }
}

// There is nothing to read from a connection that is at rest, not even its end.
function isSilent(connection) {
    try {
        connection.read(1, { timeout: 0 });
        return false;
    } catch (error) {
        return error.code === 'ETIMEDOUT';
    }
}
