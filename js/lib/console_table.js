// SPDX-License-Identifier: MIT
// js/lib/console_table.js - console.table: rows and columns drawn with lines.
// host: previewEntries(iterator).
(function (host, need) {
    'use strict';

    const { width } = need('inspect_text');
    const { className } = need('inspect_kinds');
    const INDEX = '(index)';
    const ITERATION = '(iteration index)';
    const KEY = 'Key';
    const VALUES = 'Values';

    function drawRow(cells, widths) {
        return '│' + widths.map((columns, i) => {
            const cell = cells[i] === undefined ? '' : cells[i];
            return ' ' + cell + ' '.repeat(columns - width(cell) - 1);
        }).join('│') + '│\n';
    }

    // The head is a list of names, the columns are lists of cells.
    function draw(head, columns) {
        const height = Math.max(0, ...columns.map((cells) => cells.length));
        const widths = head.map((name, i) => {
            let most = width(name);
            for (const cell of columns[i]) if (cell !== undefined) most = Math.max(most, width(cell));
            return most + 2;
        });
        const lines = widths.map((columns) => '─'.repeat(columns));
        let table = '┌' + lines.join('┬') + '┐\n' + drawRow(head, widths) + '├' + lines.join('┼') + '┤\n';
        for (let row = 0; row < height; row++) table += drawRow(columns.map((cells) => cells[row]), widths);
        return table + '└' + lines.join('┴') + '┘';
    }

    function cellWriter(options) {
        const { inspect } = need('inspect');
        return function (value) {
            const isLarge = value !== null && typeof value === 'object' && !Array.isArray(value) &&
                Object.keys(value).length > 2;
            return inspect(value, { maxArrayLength: 3, breakLength: Infinity, ...options, depth: isLarge ? -1 : 0 });
        };
    }

    function countUp(length) {
        return Array.from({ length }, (_, i) => String(i));
    }

    // Collections and their iterators; undefined for other values.
    function collectionTable(data, cell) {
        const kind = className(data);
        let flat;
        let isPairs = false;
        if (kind === 'Map') {
            flat = [...Map.prototype.entries.call(data)].flat(1);
            isPairs = true;
        } else if (kind === 'Set') {
            flat = [...Set.prototype.values.call(data)];
        } else if ((kind === 'MapIterator' || kind === 'SetIterator') && host.previewEntries !== undefined) {
            [flat, isPairs] = host.previewEntries(data);
        } else {
            return undefined;
        }
        if (!isPairs) return draw([ITERATION, VALUES], [countUp(flat.length), flat.map(cell)]);
        const keys = flat.filter((_, i) => i % 2 === 0).map(cell);
        const values = flat.filter((_, i) => i % 2 === 1).map(cell);
        return draw([ITERATION, KEY, VALUES], [countUp(keys.length), keys, values]);
    }

    // The text of the table. Options are those of inspect; properties choose the columns.
    function table(data, properties, options) {
        const cell = cellWriter(options);
        const collection = collectionTable(data, cell);
        if (collection !== undefined) return collection;
        const columns = { __proto__: null };
        const values = [];
        let hasValues = false;
        const rows = Object.keys(data);
        rows.forEach((name, row) => {
            const item = data[name];
            const isPrimitive = item === null || (typeof item !== 'function' && typeof item !== 'object');
            if (isPrimitive && properties === undefined) {
                hasValues = true;
                values[row] = cell(item);
                return;
            }
            for (const key of properties || Object.keys(item)) {
                if (columns[key] === undefined) columns[key] = [];
                columns[key][row] = isPrimitive || !Object.hasOwn(item, key) ? '' : cell(item[key]);
            }
        });
        const head = [INDEX, ...Object.keys(columns)];
        const body = [rows, ...Object.values(columns)];
        if (hasValues) {
            head.push(VALUES);
            body.push(values);
        }
        return draw(head, body);
    }

    return { table };
})
