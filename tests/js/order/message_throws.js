// After an error in a listener the messages behind it come in the next turn.
const { port1, port2 } = new MessageChannel();
port2.on('message', (value) => {
    console.log('message', value);
    if (value === 'throw')
        throw new Error('of a listener');
    if (value === 'end')
        port2.close();
});
process.on('uncaughtException', (error, origin) => console.log(error.message, origin));
port1.postMessage('throw');
port1.postMessage('next');
setImmediate(() => {
    console.log('immediate');
    port1.postMessage('end');
});
