// js/types declares what each module exports, and nothing else.
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../../js/types/', import.meta.url);
const value = /^ {4}export (?:declare )?(?:async )?(?:function|const|let|class|abstract class) (\w+)/gm;
const list = /^ {4}export \{([^}]*)\}/gm;

function declared(text) {
    const names = new Set([...text.matchAll(value)].map((found) => found[1]));
    for (const [, inner] of text.matchAll(list))
        for (const part of inner.split(','))
            names.add(part.trim().split(/\s+as\s+/).at(-1));
    if (/^ {4}export default /m.test(text))
        names.add('default');
    return names;
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.d.ts')).sort()) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const module = `weft:${file.slice(0, -'.d.ts'.length)}`;
    const has = new Set(Object.keys(await import(module)));
    const says = declared(text.slice(text.indexOf(`declare module '${module}'`)).split('\n}\n')[0]);
    const missing = [...has].filter((name) => !says.has(name)), unknown = [...says].filter((name) => !has.has(name));
    console.log(module, missing.length + unknown.length === 0 ? 'as declared' : { missing, unknown });
}
