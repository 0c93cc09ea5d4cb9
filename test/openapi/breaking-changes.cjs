// Finds breaking changes since the last release. Usage: node test/openapi/breaking-changes.cjs <released> <current>
const { readFileSync } = require('node:fs');
const { apiDiff } = require('api-smart-diff');

/** Corrections of mistakes in the released document, where the service itself has not changed. */
const CORRECTIONS = new Set([
  // Idempotency-Key: the pattern allowed 256 to 512 characters and unclosed quotes.
  'replace paths > /pets > post > parameters > 0 > schema > pattern',
]);

/** Finds the changes that break clients of the released document. In a new major version, every change is allowed. */
function findBreakingChanges(released, current) {
  const major = ({ info }) => Number(info.version.split('.', 1)[0]);
  if (major(current) > major(released)) {
    return [];
  }
  return apiDiff(released, current)
    .filter(({ type, path, after }) => (isAboutRequiredHeader(path) ? after !== true : type === 'breaking'))
    .filter(({ action, path }) => action !== 'add' || path[1] !== 'securitySchemes')
    .map(({ action, path }) => `${action} ${path.join(' > ')}`)
    .filter((change) => !CORRECTIONS.has(change));
}

/** Checks whether a change makes a response header required or optional, which the package treats like a request header. */
function isAboutRequiredHeader(path) {
  return path.at(-3) === 'headers' && path.at(-1) === 'required';
}

module.exports = { findBreakingChanges };

if (require.main === module) {
  const [released, current] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
  const changes = findBreakingChanges(released, current);
  changes.forEach((change) => process.stderr.write(`Breaking change: ${change}\n`));
  process.exitCode = changes.length === 0 ? 0 : 1;
}
