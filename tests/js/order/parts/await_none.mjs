console.log('none');
queueMicrotask(() => console.log('job of none'));
