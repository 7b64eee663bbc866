console.log('dynamic runs');
queueMicrotask(() => console.log('job of dynamic'));
export const value = 42;
