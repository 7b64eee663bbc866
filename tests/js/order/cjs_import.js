// CommonJS: require is at once, import() is later; modules run once.
const log = (text) => console.log(text);
log('begin');
Promise.resolve().then(() => log('job'));
import('./parts/dynamic.mjs').then((module) => log(`imported ${module.value}`));
log(require('./parts/common.js').kind);
log(require('./parts/common.js') === require('./parts/common'));
process.nextTick(() => log('tick'));
log('end');
