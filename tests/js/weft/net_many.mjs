// A thousand connections at the same time, each with a fiber on both sides.
import { go, Channel } from 'weft:go';
import { connect, listen } from 'weft:net';

const COUNT = 1000, ROUNDS = 5;
const listener = listen({ path: `@weft-many-${process.pid}` });
let open = 0, most = 0;
const served = listener.serve((connection) => {
    most = Math.max(most, ++open);
    for (const line of connection.lines())
        connection.write(`${Number(line) + 1}\n`);
    open--;
});
const arrived = new Channel(COUNT), start = new Channel();
const clients = Array.from({ length: COUNT }, (_, i) => go(() => {
    const connection = connect(listener.address);
    connection.write(`${i}\n`);
    let number = Number(connection.readLine());
    arrived.send(i);
    start.recv(); // until all are there
    for (let round = 1; round < ROUNDS; round++) {
        connection.write(`${number}\n`);
        number = Number(connection.readLine());
    }
    connection.close();
    return number === i + ROUNDS;
}));
await go(() => {
    for (let i = 0; i < COUNT; i++)
        arrived.recv();
    start.close();
});
console.log((await Promise.all(clients)).every((isRight) => isRight), most);
listener.close();
await served;
console.log(open);
