// What this package can import, by whichever way.
import { createRequire } from 'node:module';

export const require = createRequire(import.meta.url);
export const load = (name) => import(name);
export const resolve = (name) => import.meta.resolve(name);
