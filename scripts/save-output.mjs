// Writes what a Node.js program prints to a file, only if the program succeeds. Usage: node save-output.mjs FILE PROGRAM [ARGUMENT...]
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import process from 'node:process';

const [file, ...args] = process.argv.slice(2);
const { status, stdout } = spawnSync(process.execPath, args, {
  stdio: ['inherit', 'pipe', 'inherit'],
  maxBuffer: Infinity,
});
const isComplete = status === 0 && stdout.length > 0;
if (isComplete) {
  writeFileSync(file, stdout);
}
process.exitCode = isComplete ? 0 : 1;
