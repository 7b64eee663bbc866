// navigator, and reportError, which nobody catches where it is called.
console.log(navigator instanceof Navigator, navigator.hardwareConcurrency > 0, /^weft\/\d/.test(navigator.userAgent));
console.log(navigator.platform, navigator.language, navigator.languages);
for (const bad of [() => new Navigator(), () => Navigator.prototype.platform, () => reportError()])
    try {
        bad();
    } catch (error) {
        console.log(error.name);
    }
process.on('uncaughtException', (error) => console.log('uncaught', error));
reportError('reported');
console.log('goes on');
