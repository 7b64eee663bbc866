// Not a fixture: where tests/js/ffi_library.c is, for those that are.
import { dirname, join } from 'node:path';

export const file = process.env.WEFT_FFI_LIBRARY ?? join(dirname(process.execPath), '../tests/ffi_library.so');

// What it throws, in one line.
export function thrown(fn) {
    try {
        return `no error, but ${String(fn())}`;
    } catch (error) {
        return `${error.name}: ${error.message.replaceAll(file, 'ffi_library.so')}`;
    }
}

// Until something is so; the loop goes on meanwhile.
export async function until(condition) {
    while (!condition())
        await new Promise((resolve) => setTimeout(resolve, 1));
}
