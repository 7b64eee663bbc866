console.log('hangs');
await new Promise(() => {});
