/** Adds a link to the current value of the header `Link` (RFC 8288). */
export function joinLinks(current: string | number | string[] | undefined, link: string): string {
  return [current ?? [], link].flat().join(', ');
}
