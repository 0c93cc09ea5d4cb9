// Throws where nothing catches it, or rejects what nothing awaits, as an unknown mistake in the code would.
process.on('SIGUSR2', () => {
  throw new Error('unexpected');
});
