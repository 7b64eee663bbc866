// Many descriptors, opened and closed by callbacks; each chain in its order.
'use strict';
const fs = require('node:fs');
const logs = [[], [], []];
let left = logs.length;
logs.forEach((log, i) => {
    fs.open(__filename, 'r', (error, fd) => {
        log.push(`open ${error} ${typeof fd}`);
        process.nextTick(() => log.push('tick of open'));
        fs.read(fd, Buffer.alloc(4), 0, 4, 0, (failure, count, buffer) => {
            log.push(`read ${failure} ${count} ${buffer}`);
            setImmediate(() => log.push('immediate of read'));
            fs.close(fd, (problem) => {
                log.push(`close ${problem}`);
                Promise.resolve().then(() => log.push('job of close'));
                setImmediate(() => {
                    if (--left === 0)
                        console.log(logs.map((each, k) => `${k}: ${each.join(', ')}`).join('\n'));
                });
            });
        });
    });
    log.push(`begun ${i}`);
});
