// SPDX-License-Identifier: MIT
// js/lib/constants.js - node:constants, which old programs ask for: numbers of errors, signals and files in one place.
(function (host, need) {
    'use strict';
    return Object.freeze({ ...need('errno'), ...need('signal_names').signals, ...need('fs_stats').constants });
})
