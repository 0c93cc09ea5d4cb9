import { escapeControlCharacters } from '../shared/domain/text';

/** Where a command writes its output and its errors. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
}

/** Lets nothing that a command prints, such as a name in the database, control the terminal. In JSON, the value stays the same. */
export function createSafeTerminal(terminal: Terminal): Terminal {
  const escape = (text: string) => text.split('\n').map(escapeControlCharacters).join('\n');
  return {
    write: (text) => {
      terminal.write(escape(text));
    },
    writeError: (text) => {
      terminal.writeError(escape(text));
    },
  };
}
