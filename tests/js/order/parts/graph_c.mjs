console.log('c');
queueMicrotask(() => console.log('job of c'));
export const name = 'c';
