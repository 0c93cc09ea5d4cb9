// Bundles @nestjs/swagger, in place, into one readable file. Otherwise each start loads 540 of its and es-toolkit's modules
// (docs/decisions/0012-bundled-swagger.md).
import { renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const resolve = (name) => fileURLToPath(import.meta.resolve(name));
const entry = resolve('@nestjs/swagger');
const bundle = `${entry}.bundle`;

await build({
  entryPoints: [entry],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  alias: { 'es-toolkit/compat': resolve('es-toolkit/compat') },
});
// In one step, because another process may be loading the package.
renameSync(bundle, entry);
