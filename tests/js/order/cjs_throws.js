// A module that throws is not kept; it runs again.
const log = (text) => console.log(text);
for (let i = 0; i < 2; i++)
    try { require('./parts/cjs_throws.js'); } catch (error) { log(`caught ${error.message}`); }
try { require('./parts/missing.js'); } catch (error) { log(error.code); }
process.nextTick(() => log('tick'));
