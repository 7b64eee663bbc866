import "./nope.mjs"
