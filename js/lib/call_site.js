// SPDX-License-Identifier: MIT
// js/lib/call_site.js - methods of call sites that packages for V8 call and the engine does not have.
(function () {
    'use strict';
    const missing = {
        getThis() {},
        getTypeName() {
            return null;
        },
        getMethodName() {
            return null;
        },
        getEvalOrigin() {},
        getScriptNameOrSourceURL() {
            return this.getFileName();
        },
        isEval: () => false,
        isToplevel: () => true,
        isAsync: () => false,
        isPromiseAll: () => false,
        getPromiseIndex: () => null,
    };

    function complete() {
        const { prepareStackTrace } = Error;
        let prototype;
        Error.prepareStackTrace = (error, sites) => {
            prototype = sites[0] && Object.getPrototypeOf(sites[0]);
            return '';
        };
        void new Error().stack;
        Error.prepareStackTrace = prepareStackTrace;
        for (const name of Object.keys(missing))
            if (prototype && !(name in prototype))
                Object.defineProperty(prototype, name, { value: missing[name], writable: true, configurable: true });
    }

    return { complete };
})
