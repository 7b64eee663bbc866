// SPDX-License-Identifier: MIT
// find-my-way: the router of a web framework.
'use strict';
const FindMyWay = require('find-my-way');

const router = FindMyWay({
    ignoreTrailingSlash: true,
    defaultRoute: (request) => `404 ${request.url}`,
});
router.on('GET', '/', () => 'home');
router.on('GET', '/user/:id', (request, response, params) => `user ${params.id}`);
router.on('GET', '/user/:id/post/:post', (request, response, params) => `post ${params.id} ${params.post}`);
router.on(['PUT', 'DELETE'], '/user/:id', (request, response, params) => `${request.method} ${params.id}`);
router.on('GET', '/number/:n(^\\d+$)', (request, response, params) => `number ${params.n}`);
router.on('GET', '/files/*', (request, response, params) => `files ${params['*']}`);
router.on('GET', '/at/:hour(^\\d+)h:minute(^\\d+)m', (request, response, params) => `${params.hour}:${params.minute}`);
router.on('GET', '/search', (request, response, params, store, query) => `search ${JSON.stringify(query)} ${store.from}`,
    { from: 'store' });
router.on('GET', '/versioned', { constraints: { version: '1.2.0' } }, () => 'one');
router.on('GET', '/versioned', { constraints: { version: '2.0.0' } }, () => 'two');

for (const url of ['/', '/user/7', '/user/7/', '/user/a%20b/post/9', '/number/12', '/number/x', '/files/a/b.txt', '/at/12h05m',
    '/search?q=1&list=a&list=b', '/none', '/bad/%E0%A4%A'])
    console.log(url, '->', router.lookup({ method: 'GET', url, headers: {} }, null));
console.log(router.lookup({ method: 'DELETE', url: '/user/3', headers: {} }, null));
for (const version of ['1.x', '2.x', '3.x'])
    console.log(version, router.lookup({ method: 'GET', url: '/versioned', headers: { 'accept-version': version } }, null));
console.log(router.find('GET', '/user/42').params.id, router.find('POST', '/user/42'));
router.off('GET', '/files/*');
console.log(router.find('GET', '/files/a'));
console.log(router.prettyPrint());
try {
    router.on('GET', '/', () => {});
} catch (error) {
    console.log(error.name, error.message);
}
