// SPDX-License-Identifier: MIT
// yaml: reading, writing, documents with comments.
'use strict';
const YAML = require('yaml');

const text = `# a comment
name: Ada
born: 1815-12-10
list: [1, 0x1f, 1e3, .inf, ~, yes, "quoted \\u00e9"]
nested:
  - &anchor { a: 1 }
  - *anchor
  - <<: *anchor
folded: >-
  one
  two

  three
literal: |
  x
   y
? complex
: value
`;
console.log(JSON.stringify(YAML.parse(text, { merge: true })));
console.log(YAML.stringify({ a: 'yes', b: ['x: y', '#', '', null, true, 1.5], c: { d: 'long\nlines\n' }, e: new Date(0), f: -0 }));
const document = YAML.parseDocument(text);
document.set('name', 'Grace');
document.addIn(['nested'], 'more');
console.log(String(document));
const broken = YAML.parseDocument('a: [1, 2\nb: }');
console.log(broken.errors.map((error) => `${error.code} ${error.linePos[0].line}`).join(' '));
try {
    YAML.parse('a: b: c');
} catch (error) {
    console.log(error.name, error.message);
}
console.log(YAML.parseAllDocuments('a\n---\nb').map((one) => one.toJS()).join());
console.log(YAML.parse('!!binary aGVsbG8=', { schema: 'yaml-1.1' }).toString(), JSON.stringify(YAML.parse('!!set {a, b}', {
    version: '1.1',
}) instanceof Set));
