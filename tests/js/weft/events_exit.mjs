// The end comes while everything waits for events: nothing hangs, nothing is printed.
import { all, create, EventSystem, queue } from 'weft:events';
import { go, select } from 'weft:go';

const event = create(), done = queue(), full = new EventSystem({ maxPending: 1 }), common = EventSystem.shared('common');
full.create();
done.add(event);
const both = all([event, create()]);
for (const wait of [() => event.wait(), () => event.wait({ timeout: 1e6 }), () => both.wait(), () => done.pop(), () => full.createWaiting(),
    () => select([{ event }, { event: both }]), () => common.create().wait()]) {
    go(() => {
        create().own();
        common.create().own();
        try {
            wait();
        } finally {
            console.log('never');
        }
    });
    wait().finally(() => console.log('never'));
}
setTimeout(() => process.exit(6), 10);
