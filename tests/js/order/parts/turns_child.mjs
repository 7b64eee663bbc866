console.log('child');
await null;
console.log('child after await');
