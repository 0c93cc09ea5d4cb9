#!/usr/bin/env node
import 'reflect-metadata';
import { petstore } from './petstore';

void petstore(process.argv.slice(2), process.env, {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
});
