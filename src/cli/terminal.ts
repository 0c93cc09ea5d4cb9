/** Where a command writes: what was asked for, and what went wrong. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
}
