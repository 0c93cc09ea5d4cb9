/** Where a command writes its output and its errors. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
}
