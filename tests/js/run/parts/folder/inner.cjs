exports.inner = "cjs";
