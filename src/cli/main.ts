#!/usr/bin/env node
import 'reflect-metadata';
import { runCli } from './petstore';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader of a pipe, such as head, may need no more.
  if (code !== 'EPIPE') {
    process.stderr.write(`error: The output cannot be written: ${message}\n`);
    process.exitCode = 1;
  }
});

void runCli(process.argv.slice(2), process.env, {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode ??= exitCode;
});
