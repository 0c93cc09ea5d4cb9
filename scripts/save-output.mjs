// Writes what a Node.js program prints to a file, only if the program succeeds. Usage: node save-output.mjs FILE PROGRAM [ARGUMENT...]
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import process from 'node:process';

const [file, ...args] = process.argv.slice(2);
const { status, stdout } = spawnSync(process.execPath, args, {
  stdio: ['inherit', 'pipe', 'inherit'],
  maxBuffer: Infinity,
});
if (status === 0) {
  writeFileSync(file, stdout);
}
process.exitCode = status ?? 1;
