// SPDX-License-Identifier: MIT
// js/lib/tty.js - node:tty: whether a descriptor is a terminal.
// host: isTTY(fd)
(function (host) {
    'use strict';
    return { isatty: (fd) => Number.isInteger(fd) && fd >= 0 && fd <= 2147483647 && host.isTTY(fd) };
})
