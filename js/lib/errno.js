// SPDX-License-Identifier: MIT
// js/lib/errno.js - the numbers of the system's errors by their names.
// host: systemError(number) -> [code, text]
(function (host) {
    'use strict';
    const LAST = 133; // of Linux
    const errors = {};
    for (let number = 1; number <= LAST; number++) {
        const [code] = host.systemError(-number);
        if (/^E[A-Z0-9]+$/.test(code))
            errors[code] = number;
    }
    return errors;
})
