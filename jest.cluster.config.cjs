/**
 * The experiments with several replicas on real servers (`npm run test:cluster`), the image (`npm run test:image`), the
 * documentation in a browser (`npm run test:browser`), and the Postman collection (`npm run test:postman`).
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...require('./jest.config.cjs'),
  roots: ['<rootDir>/test/cluster'],
  testPathIgnorePatterns: [],
  globalSetup: undefined,
  globalTeardown: undefined,
  // They measure times and load the machine: one after the other.
  maxWorkers: 1,
  testTimeout: 60_000,
};
