// SPDX-License-Identifier: MIT
// zod: schemas, parsing, refinements, errors.
import { z, ZodError } from 'zod';

const User = z.object({
    name: z.string().min(2).trim(),
    age: z.coerce.number().int().nonnegative().optional(),
    mail: z.email(),
    role: z.enum(['admin', 'guest']).default('guest'),
    tags: z.array(z.string()).max(3),
    when: z.iso.date().transform((text) => new Date(text).getTime()),
});
console.log(JSON.stringify(User.parse({ name: ' Ada ', age: '36', mail: 'ada@example.org', tags: ['x'], when: '1843-07-10' })));
const bad = User.safeParse({ name: 'A', age: -1, mail: 'no', tags: [1, 2, 3, 4], when: 'yesterday', role: 'king' });
console.log(bad.success, bad.error instanceof ZodError);
for (const issue of bad.error.issues)
    console.log(issue.path.join('.'), issue.code, issue.message);
const Shape = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), r: z.number() }),
    z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
]);
console.log(JSON.stringify(Shape.parse({ kind: 'box', a: 1, b: 2 })), Shape.safeParse({ kind: 'line' }).success);
const Tree = z.object({ value: z.number(), get children() { return z.array(Tree); } });
console.log(JSON.stringify(Tree.parse({ value: 1, children: [{ value: 2, children: [] }] })));
const Later = z.string().refine(async (text) => text.length > 3, { error: 'too short' });
console.log((await Later.safeParseAsync('abc')).error.issues[0].message, await Later.parseAsync('abcd'));
console.log(z.record(z.string(), z.bigint()).parse({ a: 1n }).a, z.map(z.string(), z.date()).safeParse(new Map()).success);
console.log(z.union([z.string(), z.number()]).safeParse(true).error.issues[0].code, z.string().nullable().parse(null));
console.log(JSON.stringify(z.toJSONSchema(z.object({ a: z.string().optional(), b: z.tuple([z.number(), z.boolean()]) }))));
console.log(z.prettifyError(bad.error).split('\n').length, z.uuid().safeParse('nope').success);
