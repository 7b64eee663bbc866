import './late_a.mjs';
import './late_b.mjs';
console.log('main of the late ones');
