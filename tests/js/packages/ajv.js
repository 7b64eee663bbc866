// SPDX-License-Identifier: MIT
// ajv: JSON schemas compiled to functions.
'use strict';
const Ajv = require('ajv');
const Ajv2020 = require('ajv/dist/2020');

const ajv = new Ajv({ allErrors: true, useDefaults: true, coerceTypes: true });
const validate = ajv.compile({
    type: 'object',
    properties: {
        name: { type: 'string', minLength: 2, pattern: '^\\p{Lu}' },
        age: { type: 'integer', minimum: 0 },
        tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
        role: { enum: ['admin', 'guest'], default: 'guest' },
        child: { $ref: '#' },
    },
    required: ['name'],
    additionalProperties: false,
});
const good = { name: 'Ada', age: '36', child: { name: 'Bob' } };
console.log(validate(good), JSON.stringify(good));
console.log(validate({ name: 'a', age: -1, tags: ['x', 'x'], other: 1, role: 'king', child: {} }));
for (const error of validate.errors)
    console.log(error.instancePath, error.keyword, error.message, JSON.stringify(error.params));
console.log(ajv.errorsText(validate.errors.slice(0, 2)));
ajv.addKeyword({ keyword: 'even', validate: (schema, data) => data % 2 === 0 });
ajv.addFormat('word', /^\w+$/);
console.log(ajv.validate({ even: true }, 4), ajv.validate({ even: true }, 5), ajv.validate({ type: 'string', format: 'word' }, 'a b'));
const later = ajv.compile({ $async: true, type: 'number' });
later(1).then((value) => console.log('async', value)).then(() => later({})).catch((error) => {
    console.log(error instanceof Ajv.ValidationError, error.errors.length);
});
const two = new Ajv2020().compile({ prefixItems: [{ type: 'number' }, { type: 'string' }], unevaluatedItems: false });
console.log(two([1, 'a']), two([1, 'a', 2]), two(['a']));
try {
    ajv.compile({ type: 'nothing' });
} catch (error) {
    console.log(error.message);
}
