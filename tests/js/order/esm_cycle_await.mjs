// A cycle with top-level await inside.
import './parts/ring_one.mjs';
console.log('main');
