console.log('slow begins');
await new Promise((resolve) => setTimeout(resolve, 20));
console.log('slow ends');
