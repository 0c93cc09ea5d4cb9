// Blocks the event loop for 150 ms, four times a second, like a computation that takes too long.
const { performance } = require('node:perf_hooks');
const { setInterval } = require('node:timers');

setInterval(() => {
  const end = performance.now() + 150;
  while (performance.now() < end);
}, 250).unref();
