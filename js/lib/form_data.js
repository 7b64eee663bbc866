// SPDX-License-Identifier: MIT
// js/lib/form_data.js - FormData.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { needArguments, illegal } = need('headers');
    const { isBlob, isFile, File, partsOf } = need('blob');

    let entriesOf;
    let isFormData;

    // The value of an entry: text, or a File with the name that the caller gave.
    function makeEntry(name, value, fileName) {
        if (!isBlob(value)) {
            return [name, value];
        }
        if (!isFile(value)) {
            return [name, new File([value], fileName === undefined ? 'blob' : fileName, { type: partsOf(value).type })];
        }
        if (fileName === undefined) {
            return [name, value];
        }
        return [name, new File([value], fileName, { type: partsOf(value).type, lastModified: value.lastModified })];
    }

    function convertArguments(which, args) {
        needArguments(`FormData.${which}`, args.length, 2);
        if (args.length >= 3 && !isBlob(args[1])) {
            throw new TypeError(`Failed to execute '${which}' on 'FormData': parameter 2 is not of type 'Blob'`);
        }
        const name = `${args[0]}`.toWellFormed();
        const value = isBlob(args[1]) ? args[1] : `${args[1]}`.toWellFormed();
        const fileName = args.length >= 3 ? `${args[2]}`.toWellFormed() : undefined;
        return makeEntry(name, value, fileName);
    }

    class FormData {
        #entries = [];

        constructor(form) {
            if (form !== undefined) {
                throw new TypeError('FormData constructor: Argument 1 could not be converted to: undefined.');
            }
        }

        static {
            entriesOf = (value) => {
                if (value === null || typeof value !== 'object' || !(#entries in value)) {
                    throw illegal();
                }
                return value.#entries;
            };
            isFormData = (value) => value !== null && typeof value === 'object' && #entries in value;
        }

        append(name, value, fileName = undefined) {
            const entries = entriesOf(this);
            entries.push(convertArguments('append', arguments));
        }

        delete(name) {
            const entries = entriesOf(this);
            needArguments('FormData.delete', arguments.length, 1);
            const key = `${name}`.toWellFormed();
            for (let i = entries.length - 1; i >= 0; i--) {
                if (entries[i][0] === key) {
                    entries.splice(i, 1);
                }
            }
        }

        get(name) {
            const entries = entriesOf(this);
            needArguments('FormData.get', arguments.length, 1);
            const key = `${name}`.toWellFormed();
            const found = entries.find((entry) => entry[0] === key);
            return found === undefined ? null : found[1];
        }

        getAll(name) {
            const entries = entriesOf(this);
            needArguments('FormData.getAll', arguments.length, 1);
            const key = `${name}`.toWellFormed();
            return entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
        }

        has(name) {
            const entries = entriesOf(this);
            needArguments('FormData.has', arguments.length, 1);
            const key = `${name}`.toWellFormed();
            return entries.some((entry) => entry[0] === key);
        }

        set(name, value, fileName = undefined) {
            const entries = entriesOf(this);
            const entry = convertArguments('set', arguments);
            const first = entries.findIndex((other) => other[0] === entry[0]);
            if (first < 0) {
                entries.push(entry);
                return;
            }
            entries[first] = entry;
            for (let i = entries.length - 1; i > first; i--) {
                if (entries[i][0] === entry[0]) {
                    entries.splice(i, 1);
                }
            }
        }
    }

    idl.define(FormData);
    need('body_iterate').addIteration(FormData, 'FormData', (value) => {
        const entries = entriesOf(value);
        return () => entries;
    }, needArguments);
    idl.inspectAs(FormData, (form) => {
        const fields = {};
        for (const [name, value] of entriesOf(form)) {
            if (!Object.hasOwn(fields, name)) {
                fields[name] = value;
            } else if (Array.isArray(fields[name])) {
                fields[name].push(value);
            } else {
                fields[name] = [fields[name], value];
            }
        }
        return ['FormData', fields];
    });

    return { FormData, entriesOf, isFormData };
})
