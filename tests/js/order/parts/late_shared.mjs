export let ready = false;
await new Promise((resolve) => setTimeout(resolve, 5));
ready = true;
