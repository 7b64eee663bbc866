// SPDX-License-Identifier: MIT
// tests/js/suites/aplus.js - the suite of Promises/A+ on the promises of the language.
'use strict';
const { run, deferred } = require('./shim');

globalThis.adapter = { deferred, resolved: (value) => Promise.resolve(value), rejected: (reason) => Promise.reject(reason) };
require('promises-aplus-tests/lib/testFiles');
run('promises-aplus-tests', 872);
