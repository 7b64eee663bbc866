console.log('quick begins');
await null;
console.log('quick ends');
