/** The directories that every module may import. All other directories of `src/` are modules. */
const COMMON = '^src/(shared|config)/';

/** The entry points: the service, its command line, the template of the embedded database, and TypeORM's command line. */
const ENTRY_POINTS = '^(ormconfig|src/(main|cli/main|shared/persistence/embedded/embedded-template))\\.ts$';

/** The rules for imports. CONTRIBUTING.md explains them. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Modules in a cycle cannot be understood or removed separately.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circular-folders',
      severity: 'error',
      comment:
        'Two folders that import each other can only be understood together: move what both need to one of them, or to a third.',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unused',
      severity: 'error',
      comment:
        'Nothing that runs imports this file. List a module in src/feature-modules.ts, a schema or a migration in the index.ts of its module.',
      from: { path: ENTRY_POINTS },
      to: {
        path: '^src/',
        pathNot: [
          ENTRY_POINTS,
          '\\.spec\\.ts$',
          // Building blocks that modules can use, but need not.
          '^src/shared/(http/validation/|persistence/(statements/|constraint-violation\\.ts$))',
          // Extends the types of Fastify.
          '^src/shared/http/server/fastify-request\\.ts$',
        ],
        reachable: false,
      },
    },
    {
      name: 'no-development-dependencies',
      severity: 'error',
      comment: 'The image has no development dependencies: move the package to dependencies in package.json.',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-imports-only-domain',
      severity: 'error',
      comment:
        'The domain imports no package, no framework and no adapter: declare a port (an abstract class) in domain/.',
      from: { path: '^src/.+/domain/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: ['^src/.+/domain/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'domain-imports-only-types-of-modules',
      severity: 'error',
      comment: 'The domain may name the types of another module, such as that of a relation: use `import type`.',
      from: { path: '^src/.+/domain/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/[^/]+/index\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'http-and-persistence-never-meet',
      severity: 'error',
      comment: 'Move code that both need to the domain or the service.',
      from: { path: '^src/(.+)/(http|persistence)/' },
      to: { path: '^src/$1/(http|persistence)/', pathNot: '^src/$1/$2/' },
    },
    {
      name: 'services-know-no-adapter',
      severity: 'error',
      comment: 'Only a module file chooses adapters.',
      from: { path: '^src/[^/]+/[^/]+\\.ts$', pathNot: ['\\.module\\.ts$', '\\.spec\\.ts$', '/index\\.ts$'] },
      to: { path: '^src/[^/]+/(http|persistence|memory|redis)/', pathNot: '^src/shared/' },
    },
    {
      name: 'services-know-no-database',
      severity: 'error',
      comment:
        'A service uses its ports, and a UnitOfWork for transactions. Only health checks and metrics use the database itself.',
      from: {
        path: '^src/[^/]+/([^/]+\\.ts$|http/)',
        pathNot: ['\\.module\\.ts$', '\\.spec\\.ts$', '^src/(cli|health|observability|shared)/'],
      },
      to: { path: '^src/shared/persistence/' },
    },
    {
      name: 'modules-through-their-index',
      severity: 'error',
      comment: 'Import a module through its index.ts, which exports what other modules may use.',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '/index\\.ts$', COMMON] },
    },
    {
      name: 'modules-through-their-index-from-the-top',
      severity: 'error',
      comment: 'A module is imported through its index.ts only: export there what other modules may use.',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: ['/index\\.ts$', COMMON] },
    },
    {
      name: 'shared-knows-no-module',
      severity: 'error',
      comment: 'If shared/ needs a module, declare a port in shared/domain/ that the module implements.',
      from: { path: '^src/shared/' },
      to: { path: '^src/[^/]+/', pathNot: COMMON },
    },
    {
      name: 'clients-stand-alone',
      severity: 'error',
      comment: 'A client is a separate package: it imports only its own files.',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: ['^clients/$1/'] },
    },
    {
      name: 'service-imports-no-client',
      severity: 'error',
      comment: 'The image does not contain the clients.',
      from: { path: '^(src/|ormconfig\\.ts$)' },
      to: { path: '^clients/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^test/'] },
    exclude: { path: '^dist/' },
  },
};
