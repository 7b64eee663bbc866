// SPDX-License-Identifier: MIT
// mustache: templates without logic.
'use strict';
const mustache = require('mustache');

const view = {
    name: 'Chris', value: 10000, in_ca: true, html: '<b>',
    taxed() { return this.value - this.value * 0.4; },
    people: [{ name: 'A', age: 1 }, { name: 'B', age: 2 }],
    bold: () => (text, render) => `<b>${render(text)}</b>`,
};
console.log(mustache.render(`Hello {{name}}
{{#in_ca}}
You have {{taxed}} after taxes, {{html}} {{{html}}} {{&html}}
{{/in_ca}}
{{#people}}{{name}}:{{age}};{{/people}}{{^nobody}}none{{/nobody}} {{#bold}}Hi {{name}}.{{/bold}}
{{> part}} {{=<% %>=}}<% name %> {{name}}`, view, { part: 'part of {{name}}' }));
console.log(JSON.stringify(mustache.parse('a {{b}} {{#c}}d{{/c}}')));
try {
    mustache.render('{{#open}}', {});
} catch (error) {
    console.log(error.message);
}
