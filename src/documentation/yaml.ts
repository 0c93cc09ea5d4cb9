import { stringifyJson } from '../shared/json/json';

/** Formats a JSON value as YAML. Scalars and empty collections are written as in JSON, which YAML 1.2 includes. */
export function stringifyYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `\n${indent}-${nest(item, `${indent}  `)}`).join('');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    if (fields.length > 0) {
      return fields
        .map(([name, field]) => `\n${indent}${JSON.stringify(name)}:${nest(field, `${indent}  `)}`)
        .join('')
        .slice(indent === '' ? 1 : 0);
    }
  }
  return stringifyJson(value);
}

function nest(value: unknown, indent: string): string {
  const text = stringifyYaml(value, indent);
  return text.startsWith('\n') ? text : ` ${text}`;
}
