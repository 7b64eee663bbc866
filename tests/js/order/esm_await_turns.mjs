// In which turn modules go on after their imports' awaits.
import './parts/turns.mjs';
import './parts/turns_parent.mjs';
console.log('main');
await null;
console.log('main after await');
