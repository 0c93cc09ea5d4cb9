// Prints how many OpenTelemetry files the process loaded when it exits. It ignores the API package: prom-client always loads it,
// and it does nothing without the SDK.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).filter((path) => /@opentelemetry.(?!api.)/.test(path));
  process.stderr.write(`OpenTelemetry: ${loaded.length} files\n`);
});
