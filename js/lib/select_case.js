// SPDX-License-Identifier: MIT
// js/lib/select_case.js - how things become cases of select.
//
// A thing that select can wait for has a method asCase(key): the key is the name under which the case has it (recv, send, event,
// ...). It returns [kind, handle] and, if need be, a function that makes the case's value of what the host has brought, or throws,
// and what the host is to be given beside the handle, else the value of the case; undefined: it cannot be waited for in that way.
// Kinds are those of js/select.c.
(function () {
    'use strict';
    return { asCase: Symbol('weft.asCase'), kinds: { receive: 0, send: 1, time: 2, end: 3, signal: 4, event: 5 } };
})
