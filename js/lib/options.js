// SPDX-License-Identifier: MIT
// js/lib/options.js - what the instance was started with, besides the script's own arguments: process.execArgv.
// host: hostArguments()
(function (host) {
    'use strict';
    const list = host.hostArguments();

    // The value of "--name=value", the last one wins; undefined: it was not given.
    function valueOf(name) {
        return list.findLast((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
    }

    const has = (name) => list.includes(name);

    return { list, valueOf, has };
})
