// The end comes while fibers and promises wait at everything: nothing hangs, nothing is printed.
import { Barrier, Cond, go, Mutex, Once, RWLock, scope, Semaphore, sleep, ticker, WaitGroup } from 'weft:go';

const mutex = new Mutex(), lock = new RWLock(), permits = new Semaphore(), group = new WaitGroup(), once = new Once();
const barrier = new Barrier(1000), guard = new Mutex(), changed = new Cond();
mutex.lock();
lock.write();
group.add();
once.run(() => sleep(1e6));
ticker(1000);
for (const wait of [() => mutex.lock(), () => lock.read(), () => lock.write(), () => permits.acquire(3), () => group.wait(),
    () => once.run(() => {}), () => barrier.wait(), () => mutex.hold(), () => scope((children) => children.go(() => sleep(1e6))),
    () => scope(() => mutex.lock()), () => guard.run(() => changed.wait(guard))]) {
    go(() => {
        try {
            wait();
        } finally {
            console.log('never');
        }
    });
    Promise.resolve(wait()).finally(() => console.log('never'));
}
setTimeout(() => process.exit(5), 10);
