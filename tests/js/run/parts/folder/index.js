exports.index = true;
