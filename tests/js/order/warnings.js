// Warnings come in a tick; listeners see them.
const log = (text) => console.log(text);
process.on('warning', (warning) => log(`${warning.name} ${warning.message} ${warning.code} ${warning.detail}`));
process.emitWarning('plain');
process.emitWarning('typed', 'CustomWarning', 'CODE1');
process.emitWarning('options', { type: 'Other', code: 'CODE2', detail: 'more' });
process.emitWarning(Object.assign(new Error('an error'), { name: 'Mine' }));
process.emitWarning('deprecated', 'DeprecationWarning', 'DEP1');
for (const bad of [undefined, 5, {}])
    try { process.emitWarning(bad); } catch (error) { log(error.code); }
process.nextTick(() => log('tick'));
log('end');
setTimeout(() => {}, 2 ** 31);
setTimeout(() => process.exit(), 10);
