// An import that never gets ready hangs its importer.
process.on('exit', (code) => console.log(`exit ${code}`));
console.log('begin');
await import('./parts/hangs.mjs');
console.log('never');
