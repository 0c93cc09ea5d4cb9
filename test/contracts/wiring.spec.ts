import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { SCOPES } from '../../src/feature-modules';
import { WINDOWS } from '../../src/shared/domain/allowance';
import { getDeclaredScope } from '../../src/shared/http/access/require-scope.decorator';
import { discoverRoutes } from '../../src/shared/http/routing/api-versions';
import { RouteTable } from '../../src/shared/http/routing/route-table';
import { type Deprecation, DEPRECATION_METADATA } from '../../src/versioning';
import { TestService } from '../support/service';

const SRC = join(__dirname, '../../src');

describe('The service', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it.each([
    [
      'module',
      'src/feature-modules.ts',
      () => [...service.app.get(ModulesContainer).values()].map(({ metatype }) => metatype),
    ],
    ['schema', 'the index of its module', () => service.app.get(DataSource).options.entities],
    ['migration', 'the index of its module', () => service.app.get(DataSource).options.migrations],
  ])('lists every existing %s in %s', async (suffix, _, list) => {
    const listed = Object.values(list() ?? []) as unknown[];
    const files = readdirSync(SRC, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith(`.${suffix}.ts`));
    const forgotten = [];
    for (const file of files) {
      const exported = Object.values((await import(join(SRC, file))) as Record<string, unknown>);
      if (!exported.some((value) => listed.includes(value))) {
        forgotten.push(`src/${file}`);
      }
    }
    expect(files.length).toBeGreaterThan(0);
    expect(forgotten).toEqual([]);
  });

  it('requires no scope that no module brings', () => {
    const required = discoverRoutes(service.app).flatMap(
      ({ handler, controller }) => getDeclaredScope(handler, controller) ?? [],
    );
    expect(required).toContain('write');
    expect(required.filter((scope) => !SCOPES.includes(scope))).toEqual([]);
  });

  it('lists the windows from the shortest to the longest', () => {
    const lengths = WINDOWS.map(({ lengthMs }): number => lengthMs);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });

  it('names existing operations as the successors of deprecated ones', () => {
    const deprecations = discoverRoutes(service.app).flatMap(
      ({ handler }) => (Reflect.getMetadata(DEPRECATION_METADATA, handler) as Deprecation | undefined) ?? [],
    );
    const paths = service.app
      .get(RouteTable)
      .getRoutes()
      .map(({ url }) => url.replace(/:(\w+)/g, '{$1}'));
    expect(deprecations.length).toBeGreaterThan(0);
    expect(deprecations.filter(({ successor }) => !paths.includes(successor))).toEqual([]);
  });
});
