// SPDX-License-Identifier: MIT
// tests/js/suites/es6.js - constructor, subclasses, all and race of promises.
'use strict';
const { run, deferred } = require('./shim');

globalThis.adapter = { deferred };
globalThis.assert = require('assert');
for (const name of ['all', 'constructor', 'incorrect-subclassing', 'prototype', 'race', 'reject', 'resolve', 'sequence'])
    require(`promises-es6-tests/tests/${name}`);
run('promises-es6-tests', 69);
