// Compares openapi.json with the document of the last release: node test/openapi/breaking-changes.cjs <released> <current>
const { readFileSync } = require('node:fs');
const { apiDiff } = require('api-smart-diff');

/** Where the released document said something else than what the service has always done. */
const CORRECTED = new Set([
  // Idempotency-Key: the pattern allowed 256 to 512 characters, and unfinished quotes.
  'replace paths > /pets > post > parameters > 0 > schema > pattern',
]);

/** What breaks clients of the released document; nothing where the current one announces it by a new major version. */
function breakingChanges(released, current) {
  const major = ({ info }) => Number(info.version.split('.', 1)[0]);
  if (major(current) > major(released)) {
    return [];
  }
  return apiDiff(released, current)
    .filter(({ type, path, after }) => (isPromiseOfHeader(path) ? after !== true : type === 'breaking'))
    .map(({ action, path }) => `${action} ${path.join(' > ')}`)
    .filter((change) => !CORRECTED.has(change));
}

/** Whether a change is about whether a response always has a header; the package takes it for one of a request. */
function isPromiseOfHeader(path) {
  return path.at(-3) === 'headers' && path.at(-1) === 'required';
}

module.exports = { breakingChanges };

if (require.main === module) {
  const [released, current] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
  const changes = breakingChanges(released, current);
  changes.forEach((change) => process.stderr.write(`Breaks clients: ${change}\n`));
  process.exitCode = changes.length === 0 ? 0 : 1;
}
