#!/usr/bin/env node
import 'reflect-metadata';
import { runCli } from './petstore';

void runCli(process.argv.slice(2), process.env, {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
});
