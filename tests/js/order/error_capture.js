// A capture callback comes instead of the listeners.
const log = (text) => console.log(text);
log(process.hasUncaughtExceptionCaptureCallback());
process.on('uncaughtException', (error) => log(`listener ${error.message}`));
process.setUncaughtExceptionCaptureCallback((error) => log(`capture ${error.message}`));
log(process.hasUncaughtExceptionCaptureCallback());
try { process.setUncaughtExceptionCaptureCallback(() => {}); } catch (error) { log(error.code); }
try { process.setUncaughtExceptionCaptureCallback(5); } catch (error) { log(error.code); }
setImmediate(() => {
    setTimeout(() => { process.setUncaughtExceptionCaptureCallback(null); throw new Error('two'); }, 1);
    throw new Error('one');
});
