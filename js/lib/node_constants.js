// SPDX-License-Identifier: MIT
// js/lib/node_constants.js - node:constants: those of the system, of files and of signals, in one object.
(function (host, need) {
    'use strict';
    const os = need('os');
    return Object.freeze({ ...os.constants?.errno, ...os.constants?.signals, ...os.constants?.priority, ...need('fs').constants });
})
