console.log('throws once');
globalThis.thrown = new Error('at load');
throw globalThis.thrown;
