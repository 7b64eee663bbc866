// Which texts are addresses; and node:dns, as far as it needs no network.
const net = require('net');
const dns = require('dns');
const promises = require('dns/promises');

for (const text of ['127.0.0.1', '::1', '::', '1.2.3', '256.1.1.1', '01.2.3.4', 'fe80::1%eth0', '::ffff:1.2.3.4',
    '1:2:3:4:5:6:7:8', '1::2::3', '12345::', ':1', '1:2:3:4:5:6:7', '::1.2.3', 'localhost', '', '1.2.3.4 ', '::1%'])
    console.log(JSON.stringify(text), net.isIP(text), net.isIPv4(text), net.isIPv6(text));
console.log(net.isIP(), net.isIP(null), net.isIPv4({ toString: () => '1.2.3.4' }));

const wrong = (fn) => {
    try {
        fn();
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
};
wrong(() => dns.lookup('name'));
wrong(() => dns.lookup('name', 5, () => {}));
wrong(() => dns.lookup('name', { family: 5 }, () => {}));
wrong(() => dns.lookup(5, () => {}));
wrong(() => dns.lookup('name', 'options', () => {}));
wrong(() => dns.setServers('1.1.1.1'));
wrong(() => dns.setServers(['name']));
wrong(() => dns.setDefaultResultOrder('any'));
wrong(() => dns.resolve4(5, () => {}));
wrong(() => dns.resolve4('name'));
wrong(() => dns.resolve('name', 'NONSENSE', () => {}));

console.log(typeof dns.lookup('127.0.0.1', (...told) => console.log('lookup', ...told)));
dns.lookup('::1', { all: true }, (...told) => console.log('all', ...told));
dns.lookup('', (...told) => console.log('empty', ...told));
process.nextTick(() => console.log('tick'));
console.log(dns.getDefaultResultOrder(), dns.NOTFOUND, dns.ADDRCONFIG, dns.promises === promises);
dns.setServers(['127.0.0.1', '[::1]:5353']);
console.log(dns.getServers());

(async () => {
    console.log(await promises.lookup('127.0.0.1'), await promises.lookup('::1', { all: true }));
    console.log(await require('util').promisify(dns.lookup)('127.0.0.1'));
    const { address, family } = await promises.lookup('localhost', 4);
    console.log(address, family);
    try {
        await promises.lookup('name.invalid');
    } catch (error) {
        console.log(/^getaddrinfo (ENOTFOUND|EAI_AGAIN) name\.invalid$/.test(error.message), error.syscall, error.hostname,
            Object.keys(error).join());
    }
})();
