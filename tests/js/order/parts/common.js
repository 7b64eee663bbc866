console.log('common runs');
module.exports = { kind: 'CommonJS' };
