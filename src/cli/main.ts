#!/usr/bin/env node
import 'reflect-metadata';
import { containsSecret } from '../auth';
import { runCli } from './petstore';

let hasPrintedKey = false;

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader of a pipe, such as head, may need no more.
  if (code !== 'EPIPE' || hasPrintedKey) {
    const help = hasPrintedKey ? '. A key was issued that nobody has: see `keys list`, and revoke it' : '';
    process.stderr.write(`error: The output cannot be written: ${message}${help}\n`);
    process.exitCode = 1;
  }
});

void runCli(process.argv.slice(2), process.env, {
  write: (text) => {
    hasPrintedKey ||= containsSecret(text);
    process.stdout.write(text);
  },
  writeError: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode ??= exitCode;
});
