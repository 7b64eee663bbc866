// SPDX-License-Identifier: MIT
// handlebars: templates compiled to functions, helpers, partials, compilation ahead of time.
'use strict';
const Handlebars = require('handlebars');

Handlebars.registerHelper('loud', (text) => String(text).toUpperCase());
Handlebars.registerHelper('list', (items, options) => `<ul>${items.map((item) => `<li>${options.fn(item)}</li>`).join('')}</ul>`);
Handlebars.registerPartial('greeting', 'Hello, {{name}}{{#if title}} ({{title}}){{/if}}!');
const template = Handlebars.compile(`{{> greeting}}
{{#each items as |item index|}}{{index}}: {{item.name}}{{#unless @last}}, {{/unless}}{{else}}none{{/each}}
{{#with place}}{{city}} in {{../country}}{{/with}}
{{loud name}} {{{raw}}} {{escaped}} {{lookup map 'key'}} {{#list items}}{{name}}{{/list}}
{{!-- not seen --}}{{#if (lookup map 'no')}}yes{{else if name}}second{{/if}} {{@root.country}}`);
console.log(template({
    name: 'Ada', title: 'Countess', items: [{ name: 'one' }, { name: 'two' }], place: { city: 'London' }, country: 'England',
    raw: '<b>raw</b>', escaped: '<i>&"</i>', map: { key: 'value' },
}));
console.log(template({ name: 'X', items: [], country: 'Y' }).split('\n')[1]);
const code = Handlebars.precompile('{{#each .}}[{{this}}]{{/each}}');
console.log(typeof code, Handlebars.template(eval(`(${code})`))(['a', 'b']));
try {
    Handlebars.compile('{{#if}}')({});
} catch (error) {
    console.log(error.message);
}
console.log(Handlebars.compile('{{x.constructor}}|{{missing}}')({ x: {} }));
console.log(Handlebars.parse('{{a}} b').body.map((node) => node.type).join());
