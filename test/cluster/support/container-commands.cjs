/**
 * Stands in for the commands `docker` and `kubectl` of the scripts in deploy/scripts: runs what they run in a container as a process of
 * this machine, on real servers. It knows exactly the commands of the scripts.
 *
 * Usage: container-commands.cjs docker|kubectl <argument…>, with the directory of its state in PLATFORM_STATE.
 */
const { Buffer } = require('node:buffer');
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, openSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const MAIN = join(__dirname, '../../../dist/src/main.js');
const CLI = join(__dirname, '../../../dist/src/cli/main.js');
const STATE = process.env.PLATFORM_STATE ?? '';
const file = (name) => join(STATE, name);
const readState = () => JSON.parse(readFileSync(file('state.json'), 'utf8'));
const writeState = (state) => {
  writeFileSync(file('state.json'), JSON.stringify(state));
};

/** The environment of the replicas: on Kubernetes, their URLs are those of the Secret. */
function readEnv() {
  const { env, secret } = readState();
  if (secret !== undefined) {
    return { ...env, DATABASE_URL: secret['database-url'], REDIS_URL: secret['redis-url'] };
  }
  const [, url] = /^DATABASE_URL=(.*)$/m.exec(readFileSync(readState().envFile, 'utf8')) ?? [];
  return { ...env, ...(url !== undefined && { DATABASE_URL: url }) };
}

async function start(name) {
  const state = readState();
  const log = openSync(file(`${name}.log`), 'a');
  const { port } = state.replicas[name];
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, ...readEnv(), PORT: port },
    stdio: ['ignore', log, log],
    detached: true,
  });
  child.unref();
  const { pid } = child;
  state.replicas[name].pid = pid;
  writeState(state);
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (!isRunning(pid)) {
      throw new Error(`${name} has exited: ${readFileSync(file(`${name}.log`), 'utf8')}`);
    }
    await sleep(50);
  }
}

async function stop(name) {
  const { pid } = readState().replicas[name];
  if (isRunning(pid)) {
    process.kill(pid, 'SIGTERM');
    while (isRunning(pid)) {
      await sleep(20);
    }
  }
}

function isRunning(pid) {
  // A process that has exited stays a zombie until its parent, which may be gone, has waited for it.
  return (
    pid !== undefined && existsSync(`/proc/${pid}/stat`) && !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  );
}

const names = () => Object.keys(readState().replicas);
const forAll = (action) => Promise.all(names().map(action));
async function restart(name) {
  await stop(name);
  await start(name);
}
async function startStopped(name) {
  if (!isRunning(readState().replicas[name].pid)) {
    await start(name);
  }
}
/** Runs a command without a terminal, as in a container. */
function run([program, ...args], env = {}) {
  const launcher = join(STATE, 'petstore');
  writeFileSync(launcher, `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`, { mode: 0o755 });
  const { status } = spawnSync('setsid', ['--wait', program, ...args], {
    env: { PATH: `${STATE}:${process.env.PATH}`, ...env },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

function printLogs() {
  names().forEach((name) => process.stdout.write(readFileSync(file(`${name}.log`))));
}

const print = (text) => {
  process.stdout.write(text);
};

const COMMANDS = [
  // Docker Compose
  [/^compose exec -T redis redis-cli (.*)$/, (args) => run(['redis-cli', '-u', readEnv().REDIS_URL, ...args.slice(5)])],
  [/^compose run --rm --no-deps --no-TTY tools /, (args) => run(args.slice(6))],
  [/^compose run --rm --no-deps --no-TTY petstore /, (args) => run(args.slice(6), readEnv())],
  [
    /^compose ps --all /,
    () =>
      print(
        names()
          .map((name) => `${name}\n`)
          .join(''),
      ),
  ],
  [/^compose logs .*petstore$/, printLogs],
  [/^compose stop petstore$/, () => forAll(stop)],
  [/^compose up --detach --wait --no-deps --scale petstore=2 --no-recreate petstore$/, () => forAll(startStopped)],
  [/^compose up --detach --wait --no-deps --scale petstore=2 --force-recreate petstore$/, () => forAll(restart)],
  [/^inspect /, (args) => print(`${args.slice(3).join('\n')}\n`)],
  [/^stop --time 30 \S+$/, ([, , , name]) => stop(name)],
  // Kubernetes
  [/^config current-context$/, () => print('test\n')],
  [/^exec -i deployment\/petstore-tools --container petstore -- /, (args) => run(args.slice(6), readEnv())],
  [/^exec -i deployment\/petstore-tools --container (postgres|redis) -- /, (args) => run(args.slice(6))],
  [
    /^get secret petstore --output jsonpath=\{\.data\.(\S+)\}$/,
    (_, key) => print(Buffer.from(readState().secret[key] ?? '').toString('base64')),
  ],
  [
    /^patch secret petstore --patch-file=\/dev\/stdin$/,
    () => {
      const state = readState();
      Object.assign(state.secret, JSON.parse(readFileSync(0, 'utf8')).stringData);
      writeState(state);
    },
  ],
  [
    /^get pods --selector app.kubernetes.io\/component=server /,
    () =>
      print(
        names()
          .map((name) => `${name}\n`)
          .join(''),
      ),
  ],
  [/^get events --field-selector type=Warning$/, () => undefined],
  [/^logs --selector app.kubernetes.io\/component=server /, printLogs],
  [/^scale deployment\/petstore --replicas=0$/, () => forAll(stop)],
  [/^scale deployment\/petstore --replicas=2$/, () => forAll(startStopped)],
  [/^wait --for=delete pod --selector app.kubernetes.io\/component=server --timeout=90s$/, () => undefined],
  [/^rollout restart deployment\/petstore deployment\/petstore-tools$/, () => forAll(restart)],
  [/^rollout status deployment\/petstore(-tools)?$/, () => undefined],
  [/^delete pod \S+$/, ([, , name]) => restart(name)],
];

async function main([, , program, ...all]) {
  // The options of every command of the scripts: the file of Compose, or the namespace.
  const args = all.filter(
    (arg, index) => !/^--(file|namespace)$/.test(arg) && !/^--(file|namespace)$/.test(all[index - 1]),
  );
  const line = args.join(' ');
  const [pattern, action] = COMMANDS.find(([each]) => each.test(line)) ?? [];
  if (action === undefined) {
    throw new Error(`Unknown command: ${program} ${line}`);
  }
  await action(args, ...(pattern.exec(line) ?? []).slice(1));
}

main(process.argv).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
