// Executors run at once; only the first word counts.
const log = (text) => console.log(text);
new Promise((resolve) => { log('executor'); resolve(1); log('after resolve'); throw new Error('ignored'); }).then(log);
new Promise(() => { throw 'thrown'; }).catch((reason) => log(`caught ${reason}`));
new Promise((resolve, reject) => { reject('first'); resolve('second'); reject('third'); }).catch((reason) => log(reason));
new Promise((resolve, reject) => { resolve(new Promise(() => {})); reject('locked in'); }).catch(() => log('never'));
for (const bad of [undefined, 1, {}])
    try { new Promise(bad); } catch (error) { log(error.name); }
try { Promise(() => {}); } catch (error) { log(error.name); }
let resolveLater;
const later = new Promise((resolve) => { resolveLater = resolve; });
later.then((value) => log(`later ${value}`));
log('end');
queueMicrotask(() => { log('micro'); resolveLater('now'); log('still micro'); });
