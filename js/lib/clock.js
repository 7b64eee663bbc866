// SPDX-License-Identifier: MIT
// js/lib/clock.js - the time since the program began, for performance and events.
// host: now() in monotonic milliseconds, epoch() in milliseconds since 1970; if there: started, the now() of the beginning
(function (host) {
    'use strict';

    const origin = host.started ?? host.now();
    const timeOrigin = host.epoch() - (host.now() - origin);

    function now() {
        return host.now() - origin;
    }

    return { now, timeOrigin };
})
