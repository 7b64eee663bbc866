module.exports = (value) => `${value} of CommonJS, ${require('./name.json').name}`;
