// SPDX-License-Identifier: MIT
// ejs: templates with JavaScript in them.
import ejs from 'ejs';

const text = `<% for (const user of users) { -%>
<p><%= user.name %> <%- user.html %></p>
<% } -%>
<%# a comment %><%_ if (users.length > 1) { _%>many<%_ } _%>`;
console.log(ejs.render(text, { users: [{ name: '<Ada>', html: '<b>x</b>' }, { name: 'Bob', html: '' }] }));
const greet = ejs.compile('Hello <?= who ?>', { delimiter: '?' });
console.log(greet({ who: 'world' }), typeof greet);
console.log(await ejs.render('<%= await later %>', { later: Promise.resolve('awaited') }, { async: true }));
console.log(ejs.render('<%- include("/other", { n: 2 }) %>', {}, {
    includer: (original) => ({ template: `included ${original} <%= n * 2 %>` }),
}));
try {
    ejs.render('one\n<%= missing.name %>', {}, { filename: '/page.ejs' });
} catch (error) {
    console.log(error.name, error.message.split('\n')[0]);
}
console.log(ejs.escapeXML('<&\'">'));
