const main = require('../cjs_cycle.js');
exports.seen = `${main.early} ${main.late}`;
exports.later = () => main.late;
console.log(`other sees ${exports.seen}`);
