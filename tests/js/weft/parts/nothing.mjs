globalThis.effect = 1;
