/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.{spec,e2e-spec}.ts'],
  testPathIgnorePatterns: ['/test/browser/', '/test/cluster/', '/test/image/', '/test/postman/'],
  // Nest 12 is published as ES modules only, which Jest does not load: they are compiled like our own code.
  transform: { '^.+\\.(ts|js|mjs)$': '@swc/jest' },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@fastify/cookie|jose|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|load-esm|cookie|content-disposition)/)',
  ],
  // ES modules import each other by the names of the compiled files.
  moduleNameMapper: { '^(\\.\\.?/.*)\\.js$': ['$1.js', '$1'] },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  maxWorkers: 2,
  testTimeout: 30_000,
};
