globalThis.runs = (globalThis.runs ?? 0) + 1;
process.nextTick((n) => console.log(`tick of run ${n}`), globalThis.runs);
throw new Error(`run ${globalThis.runs}`);
