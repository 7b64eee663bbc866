throw new TypeError("cjs")
