/**
 * Validates free text. Characters are code points, as in PostgreSQL and JSON Schema.
 * @returns what is wrong with the value, as a phrase that follows the field name; undefined if it is valid
 */
export function validateText(value: unknown, { maxLength }: { readonly maxLength: number }): string | undefined {
  if (typeof value !== 'string') {
    return 'must be a string';
  }
  if (value.length === 0 || (value.length > maxLength && Array.from(value).length > maxLength)) {
    return `must be 1 to ${maxLength} characters long`;
  }
  if (!/\S/.test(value)) {
    return 'must not be only whitespace';
  }
  return validateCharacters(value);
}

/** Checks whether PostgreSQL can store a text without a change. @returns as `validateText` */
export function validateCharacters(text: string): string | undefined {
  return text.includes('\0') || /\p{Surrogate}/u.test(text) ? 'must not contain NUL or a lone surrogate' : undefined;
}

/** Characters that move or hide text in a terminal: control characters, line separators and bidirectional overrides. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** Makes control characters visible, as JSON writes them: `\u202e`. */
export function escapeControlCharacters(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
