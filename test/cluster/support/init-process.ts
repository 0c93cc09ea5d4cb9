import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEnd } from '../../support/cleanup';

const MAIN = join(__dirname, '../../../dist/src/main.js');

/** Starts the service as process 1, as in a container; as another process if the test does not run as root. */
export function startAsProcess1(env: Record<string, string | undefined>, stdio: StdioOptions) {
  const isRoot = process.getuid?.() === 0;
  const [command, ...args] = [...(isRoot ? ['unshare', '--pid', '--fork'] : []), process.execPath, MAIN];
  const child: ChildProcess = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio });
  const findPid = () => {
    const pid = child.pid ?? 0;
    return isRoot ? Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) : pid;
  };
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const kill = (signal: NodeJS.Signals) => {
    process.kill(findPid(), signal);
    return exit;
  };
  onEnd(() => {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(findPid(), 'SIGKILL');
    }
  });
  return { child, kill };
}
