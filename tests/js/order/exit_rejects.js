// A rejection that an exit listener leaves at an ordinary end.
const log = (text) => console.log(text);
process.on('exit', (code) => { log(`exit ${code}`); Promise.reject(new Error('late')); });
