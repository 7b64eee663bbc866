// process.exit below generators, proxies, getters, sort and JSON.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
function* g() {
    try {
        yield [2, 1].sort(() => JSON.parse('[1]', () => new Proxy({}, { get() { process.exit(4); } }).x));
    } finally { log('never'); }
}
try { for (const value of g()) log(value); } finally { log('never'); }
