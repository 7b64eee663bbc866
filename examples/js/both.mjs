// SPDX-License-Identifier: MIT
// examples/js/both.mjs - one process serves requests and trains a network: the server of server.mjs and the training of
// training.mjs, in one instance.
//
//     PORT=8080 REDIS=localhost:6379 UPSTREAM=http://localhost:9000 ROUNDS=3 weft run both.mjs
//
// Handlers are light fibers, workers of the training are fibers bound to threads of their own; neither waits for the other.
// ROUNDS: so many trainings, one after another; then the server is ended as by SIGTERM.
import './server.mjs';
import { train } from './training.mjs';

const rounds = Number(process.env.ROUNDS ?? 1);
for (let round = 1; round <= rounds; round++) {
    const losses = await train({ seed: round });
    console.log(`training ${round}: loss ${losses[0].toFixed(3)} at first, ${losses.at(-1).toFixed(3)} at last`);
    if (!(losses.at(-1) < losses[0] / 2))
        throw new Error('it has not learnt much');
}
process.kill(process.pid, 'SIGTERM');
