// Throws an error that nothing catches on SIGUSR2, like a bug in the code.
process.on('SIGUSR2', () => {
  throw new Error('unexpected');
});
