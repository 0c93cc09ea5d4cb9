// On each message, tries to lock the directory and reports whether it holds the lock.
const { createServer } = require('node:net');
const { join } = require('node:path');
const { rmSync } = require('node:fs');
const { DirectoryLock, isAlive, listen } = require('../../dist/src/shared/persistence/embedded/directory-lock.js');

const [directory] = process.argv.slice(2);
const known = join(directory, 'known');

process.on('message', () => {
  void DirectoryLock.acquire(directory, () => isAlive(known), 10_000).then(async (lock) => {
    if (lock !== undefined) {
      rmSync(known, { force: true });
      await listen(createServer(), known);
    }
    process.send(lock !== undefined);
  });
});
process.send('started');
