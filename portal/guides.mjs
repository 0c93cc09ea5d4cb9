/** The pages of the documentation by name, in navigation order. */
export const GUIDES = [
  { name: 'index', label: 'Home', source: 'portal/home.md' },
  { name: 'getting-started', label: 'Getting started', source: 'docs/getting-started.md' },
  { name: 'api', label: 'API', source: 'docs/api.md' },
  { name: 'errors', label: 'Errors', source: 'docs/errors.md' },
  { name: 'client', label: 'TypeScript client', source: 'clients/typescript/README.md' },
  { name: 'changelog', label: 'Changelog', source: 'CHANGELOG.md' },
];
