throw new TypeError("esm")
