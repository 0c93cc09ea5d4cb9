/**
 * The tests with several replicas and real servers (`npm run test:cluster`), of the image (`npm run test:image`), of the
 * documentation in a browser (`npm run test:browser`), and of the Postman collection (`npm run test:postman`).
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...require('./jest.config.cjs'),
  roots: ['<rootDir>/test/cluster'],
  testPathIgnorePatterns: [],
  globalSetup: undefined,
  globalTeardown: undefined,
  // Some suites measure times, which others would disturb.
  maxWorkers: 1,
  testTimeout: 60_000,
};
