// Says, as the process ends, how many files of OpenTelemetry it has loaded. prom-client always loads the API, which does
// nothing without the rest.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).filter((path) => /@opentelemetry.(?!api.)/.test(path));
  process.stderr.write(`OpenTelemetry: ${loaded.length} files\n`);
});
