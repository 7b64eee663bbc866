let chain = Promise.resolve();
for (let i = 1; i < 9; i++)
    chain = chain.then(() => console.log(`turn ${i}`));
