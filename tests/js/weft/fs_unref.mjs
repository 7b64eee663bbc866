// What is watched without being persistent does not keep the program running; what is read does.
import fs from 'node:fs';

fs.watch('.', { persistent: false });
fs.watch('.').unref();
fs.watchFile('.', { persistent: false }, () => {});
const watcher = fs.watch('.', { persistent: false });
watcher.ref();
watcher.on('close', () => console.log('closed'));
fs.stat('.', () => {
    console.log('stat');
    setTimeout(() => {
        console.log('closing');
        watcher.close();
    }, 1);
});
process.on('exit', () => console.log('exit'));
