import './turns_child.mjs';
console.log('parent');
