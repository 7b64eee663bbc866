// A module that tests start as an instance of its own.
import { basename } from 'node:path';

export default function (...values) {
    return { values, file: basename(process.argv[1]), url: basename(import.meta.url) };
}
