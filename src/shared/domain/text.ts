/**
 * What is wrong with a value that should be free text, in words that follow the name of its field; undefined for a valid
 * one. Characters are code points, as in PostgreSQL and JSON Schema.
 */
export function validateText(value: unknown, { maxLength }: { readonly maxLength: number }): string | undefined {
  if (typeof value !== 'string') {
    return 'must be a string';
  }
  if (value.length === 0 || (value.length > maxLength && Array.from(value).length > maxLength)) {
    return `must be 1 to ${maxLength} characters long`;
  }
  if (!/\S/.test(value)) {
    return 'must not be only white space';
  }
  if (value.includes('\0') || /\p{Surrogate}/u.test(value)) {
    return 'must not contain NUL or a lone surrogate';
  }
  return undefined;
}
