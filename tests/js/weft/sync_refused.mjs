// Who has given up waiting for a lock, a permit or a place has nothing to give back.
import { go, Mutex, RWLock, Semaphore, scope } from 'weft:go';

const never = () => console.log('got what somebody else has');
const refusal = (error) => (typeof error.code === 'string' ? error.code : error.name);
const gate = () => Promise.withResolvers();

const mutex = new Mutex(), first = gate();
const held = mutex.run(() => first.promise);
console.log(await mutex.run(never, { timeout: 1 }).catch(refusal), mutex.locked);
console.log(await mutex.run(never, { signal: AbortSignal.abort() }).catch(refusal), mutex.locked);
first.resolve('first');
console.log(await held, mutex.locked, await mutex.run(() => 'second'));

const semaphore = new Semaphore(1), second = gate();
const taken = semaphore.run(() => second.promise);
console.log(await semaphore.run(never, { timeout: 1 }).catch(refusal), semaphore.permits);
second.resolve();
await taken;
console.log(semaphore.permits);
console.log(await semaphore.run(() => { throw new Error('thrown'); }).catch((error) => error.message), semaphore.permits);

const lock = new RWLock(), third = gate();
const writes = lock.runWrite(() => third.promise);
console.log(await lock.runWrite(never, { timeout: 1 }).catch(refusal), lock.writing);
console.log(await lock.runRead(never, { timeout: 1 }).catch(refusal), lock.readers);
third.resolve();
await writes;
console.log(lock.writing, lock.readers, await lock.runWrite(() => 'third'));

console.log(await go(() => scope((s) => {
    try {
        s.go('no function');
    } catch (error) {
        console.log(error.name);
    }
    s.go(() => {});
    return 'there is room';
}, { max: 1 })));
