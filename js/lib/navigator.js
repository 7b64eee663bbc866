// SPDX-License-Identifier: MIT
// js/lib/navigator.js - navigator: on what a script runs; and reportError.
// host: reportError(error)
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const token = Symbol('token');

    class Navigator {
        #brand = true;
        static #check(value) {
            if (typeof value !== 'object' || value === null || !(#brand in value))
                throw idl.illegalInvocation();
        }
        constructor(key = undefined) {
            if (key !== token)
                throw new TypeError('Illegal constructor');
        }
        get hardwareConcurrency() {
            Navigator.#check(this);
            return need('os').availableParallelism();
        }
        get language() {
            Navigator.#check(this);
            return 'en-US';
        }
        get languages() {
            Navigator.#check(this);
            return languages;
        }
        get platform() {
            Navigator.#check(this);
            return 'linux';
        }
        get userAgent() {
            Navigator.#check(this);
            return `weft/${need('process').process.versions.weft}`;
        }
    }
    idl.define(Navigator);
    const languages = Object.freeze(['en-US']);

    // As if it had been thrown where nobody catches it.
    function reportError(error) {
        idl.needArguments('reportError', arguments.length, 1);
        host.reportError(error);
    }

    return { Navigator, navigator: new Navigator(token), reportError };
})
