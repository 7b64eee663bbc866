exports.c = 1; exports.d = 2; module.exports.default = 5; exports.__esModule = true
