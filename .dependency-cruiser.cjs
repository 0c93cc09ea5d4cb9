/** What every module may import; each other directory of `src/` is a module. */
const COMMON = '^src/(shared|config)/';

/** What is run: the service, the commands, the build's template, TypeORM's command line. */
const ENTRY_POINTS = '^(ormconfig|src/(main|cli/main|shared/persistence/embedded/embedded-template))\\.ts$';

/** The rules of the house: what may import what. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'A cycle cannot be understood, or taken out, in parts.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unused',
      severity: 'error',
      comment:
        'Nothing that runs imports this file. List a module in src/app.module.ts, a schema or a migration in src/typeorm.config.ts.',
      from: { path: ENTRY_POINTS },
      to: {
        path: '^src/',
        pathNot: [
          ENTRY_POINTS,
          '\\.spec\\.ts$',
          // The build renders the site of it, which a browser loads.
          '^src/documentation/(page|site)/',
          // Building blocks: a module may take them up, or no longer need them.
          '^src/shared/(http/validation/|persistence/(statements/|violation\\.ts$))',
          // Adds to the types of Fastify.
          '^src/shared/http/server/fastify-request\\.ts$',
        ],
        reachable: false,
      },
    },
    {
      name: 'domain-imports-only-domain',
      severity: 'error',
      comment:
        'The domain knows no package, no framework and no adapter: declare a port (an abstract class) in domain/.',
      from: { path: '^src/.+/domain/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^src/.+/domain/' },
    },
    {
      name: 'http-and-persistence-never-meet',
      severity: 'error',
      comment: "What both need is the domain's, or the service's: move it there.",
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
        'A service asks its ports, and a UnitOfWork for transactions. Health and metrics watch the database itself.',
      from: {
        path: '^src/[^/]+/([^/]+\\.ts$|http/)',
        pathNot: ['\\.module\\.ts$', '\\.spec\\.ts$', '^src/(cli|health|observability|shared)/'],
      },
      to: { path: '^src/shared/persistence/' },
    },
    {
      name: 'modules-through-their-index',
      severity: 'error',
      comment: 'A module is imported through its index.ts only: export there what others may use.',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '/index\\.ts$', COMMON] },
    },
    {
      name: 'modules-through-their-index-from-the-top',
      severity: 'error',
      comment:
        'A module is imported through its index.ts only: export there what others may use. Schemas and migrations are listed in src/typeorm.config.ts.',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/typeorm\\.config\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: ['/index\\.ts$', COMMON] },
    },
    {
      name: 'shared-knows-no-module',
      severity: 'error',
      comment: 'What shared/ needs of a module is a port in shared/domain/, which the module implements.',
      from: { path: '^src/shared/' },
      to: { path: '^src/[^/]+/', pathNot: COMMON },
    },
    {
      name: 'clients-stand-alone',
      severity: 'error',
      comment: 'A client is a package of its own: it imports its own files, and the dependencies of its package.json.',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: ['^clients/$1/', '^node_modules/lossless-json/'] },
    },
    {
      name: 'service-imports-no-client',
      severity: 'error',
      comment: 'The image has no clients.',
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
