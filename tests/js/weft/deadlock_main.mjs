// A main module that waits for a channel for ever ends as one that waits for a promise for ever does in Node.
import { chan } from 'weft:go';

process.on('exit', (code) => console.log('exit', code, process.exitCode));
console.log('begins');
await chan().recv();
console.log('never');
