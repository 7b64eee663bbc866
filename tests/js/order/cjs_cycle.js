// A cycle of CommonJS modules sees what is there so far.
exports.early = 'main early';
const other = require('./parts/cjs_other.js');
exports.late = 'main late';
console.log(`main sees ${other.seen} ${other.later()}`);
console.log(module.loaded, module.children.length, require.main === module, this === exports);
setImmediate(() => console.log(module.loaded));
