export function then(resolve) { console.log('then of a module'); resolve('what then gave'); }
