// Says, as the process ends, which files of OpenTelemetry it has loaded.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).filter((path) => path.includes('@opentelemetry'));
  process.stderr.write(`OpenTelemetry: ${loaded.length} files\n`);
});
