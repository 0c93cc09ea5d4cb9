import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { IDENTIFIER } from '../../src/config/brand';
import { TestService } from '../support/service';

const PROJECT = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const { groups } = parse(read('docker/monitoring/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('docker/monitoring/dashboards/petstore.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

describe('The alert rules and the dashboard', () => {
  it.each([
    ['rules', rules.map(({ expr }) => expr)],
    ['panels', queries],
  ])('use only exported metrics and labels in their %s', async (_what, expressions) => {
    const service = await TestService.start();
    const key = await service.createKey();
    await service.get('/v1/pets/1', { key });
    const { text } = await service.get('/metrics');
    await service.close();
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]));
    const names = expressions.flatMap((expr) =>
      [...expr.matchAll(new RegExp(`\\b(?:${IDENTIFIER}|nodejs|process)_\\w+`, 'g'))].map(([n]) => n),
    );
    expect(names.length).toBeGreaterThanOrEqual(expressions.length - 2);
    for (const name of names) {
      const histogram = name.replace(/_(bucket|sum|count)$/, '');
      expect([name, types.has(name) || types.get(histogram) === 'histogram']).toEqual([name, true]);
    }
    const labels = expressions.flatMap((expr) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...expr.matchAll(/[{,] *(\w+)=/g)].map(([, label = '']) => label),
    ]);
    const known = [...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label);
    // Prometheus adds these labels itself; on Kubernetes, also the namespace.
    expect([...known, 'job', 'instance', 'namespace']).toEqual(expect.arrayContaining(labels));
  });

  it('have a severity, and a summary', () => {
    rules.forEach(({ labels, annotations }) => {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\S\.$/);
    });
  });

  it('contain the removal date of the deprecated operation', () => {
    const { paths } = JSON.parse(read('openapi.json')) as {
      paths: Record<string, { get?: { 'x-deprecated-sunset'?: string } }>;
    };
    const sunset = paths['/pets/{petId}']?.get?.['x-deprecated-sunset'] ?? '';
    const rule = rules.find(({ alert }) => alert === 'PetstoreDeprecatedCalls');
    expect(rule?.expr).toContain(`> ${Date.parse(sunset) / 1_000} - 90 * 86400`);
  });

  it('have a section in docs/runbook.md, to which each alert links', () => {
    const headings = [...read('docs/runbook.md').matchAll(/^### (Petstore\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } };
    const urls = headings.map((name = '') => `${repository.url}/blob/main/docs/runbook.md#${name.toLowerCase()}`);
    expect(rules.map(({ annotations }) => annotations.runbook_url)).toEqual(urls);
  });
});
