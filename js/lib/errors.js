// SPDX-License-Identifier: MIT
// js/lib/errors.js - errors with the names and codes that programs for Node look at.
(function (host, need) {
    'use strict';
    function withCode(error, code) {
        Object.defineProperty(error, 'code', { value: code, enumerable: true, configurable: true, writable: true });
        Object.defineProperty(error, 'name', {
            value: `${error.name}`, enumerable: false, configurable: true, writable: true,
        });
        return error;
    }

    const invalidArgument = (name, type, value) => need('node_error').invalidArgType(name, type, value);
    const outOfRange = (name, range, value) => need('node_error').outOfRange(name, range, value);

    return { withCode, invalidArgument, outOfRange };
})
