import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { onEnd } from '../support/cleanup';

const PROJECT = join(__dirname, '../..');
const DIRECTORY = join(PROJECT, 'deploy/kubernetes');

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly [field: string]: unknown;
}

/** Renders the resources that `kubectl apply -k` creates. */
export function render(overlay: string): Resource[] {
  return renderDirectory(join(DIRECTORY, 'overlays', overlay));
}

/** Renders the production overlay with further components. @param lines further lines of its `kustomization.yaml` */
export function renderWith(components: readonly string[], lines: string): Resource[] {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-kubernetes-'));
  onEnd(() => {
    rmSync(directory, { recursive: true });
  });
  cpSync(DIRECTORY, directory, { recursive: true });
  const overlay = join(directory, 'overlays/with');
  mkdirSync(overlay);
  const paths = components.map((name) => `../../components/${name}`).join(', ');
  const text = `resources: [../production]\ncomponents: [${paths}]\n${lines}\n`;
  writeFileSync(join(overlay, 'kustomization.yaml'), text);
  return renderDirectory(overlay);
}

function renderDirectory(directory: string): Resource[] {
  const output = runKubectl('kustomize', directory);
  return parseAllDocuments(output).map((document) => document.toJS() as Resource);
}

function runKubectl(...args: readonly string[]): string {
  try {
    return execFileSync('kubectl', args, { encoding: 'utf8' });
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? new Error('Install kubectl 1.27 or later: https://kubernetes.io/docs/tasks/tools/') : error;
  }
}

/**
 * Validates resources against the published types and schemas of Kubernetes, the Gateway API and the Prometheus operator. The types
 * define the fields, and the schemas their values.
 * @returns error messages
 */
export function validate(resources: readonly Resource[]): string[] {
  return [...findTypeErrors(resources), ...findSchemaErrors(resources)];
}

/** Returns the package with the types and schemas of a resource. */
function getApiGroup({ apiVersion }: Resource): string {
  const [group = ''] = apiVersion.split('/');
  const crds = group.startsWith('gateway.') ? 'gateway-api' : 'prometheus-operator';
  const isCrd = group.startsWith('gateway.') || group.startsWith('monitoring.');
  return `${isCrd ? `@kubernetes-models/${crds}` : 'kubernetes-models'}/${apiVersion}`;
}

function findTypeErrors(resources: readonly Resource[]): string[] {
  const file = join(PROJECT, 'manifests.ts');
  const lines = resources.map((resource, index) => {
    const type = `import('${getApiGroup(resource)}', { with: { 'resolution-mode': 'import' } }).I${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)};`;
  });
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([file], options, {
    ...host,
    fileExists: (path) => path === file || host.fileExists(path),
    getSourceFile: (path, version, ...rest) =>
      path === file ? ts.createSourceFile(path, lines.join('\n'), version) : host.getSourceFile(path, version, ...rest),
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start = 0 }) => {
    const index = lines.join('\n').slice(0, start).split('\n').length - 1;
    return `${getName(resources[index])}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

/** Runs in its own process, because the packages are modules that Jest cannot load. */
function findSchemaErrors(resources: readonly Resource[]): string[] {
  const script = `
    const errors = [];
    for (const { from, resource, name } of JSON.parse(process.argv[1])) {
      const model = new (await import(from))[resource.kind](resource);
      try {
        model.validate();
      } catch ({ message }) {
        errors.push(name + ': ' + message);
      }
    }
    process.stdout.write(JSON.stringify(errors));
  `;
  const input = resources.map((resource) => ({ from: getApiGroup(resource), resource, name: getName(resource) }));
  const args = ['--input-type=module', '--eval', script, '--', JSON.stringify(input)];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8' })) as string[];
}

function getName(resource: Resource | undefined): string {
  return `${resource?.kind} ${resource?.metadata.name}`;
}
