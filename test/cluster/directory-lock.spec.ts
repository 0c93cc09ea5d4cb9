import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onEnd } from '../support/cleanup';
import { createTemporaryDirectory } from '../support/process';

const CONTENDERS = 8;
const ROUNDS = Number(process.env.LOCK_ROUNDS ?? 25);

describe('A lock on a directory', () => {
  it(`is acquired by exactly one of ${CONTENDERS} concurrent processes whenever its holder is killed`, async () => {
    const { path } = await createTemporaryDirectory();
    const contenders: ChildProcess[] = [];
    const add = async () => {
      const child = fork(join(__dirname, '../support/lock-contender.cjs'), [path], { execArgv: [] });
      onEnd(() => child.kill('SIGKILL'));
      contenders.push(child);
      await once(child, 'message');
    };
    await Promise.all(Array.from({ length: CONTENDERS }, add));
    for (let round = 1; round <= ROUNDS; round++) {
      const replies = await Promise.all(
        contenders.map(async (child) => {
          const reply = once(child, 'message') as Promise<[boolean]>;
          child.send('lock');
          return (await reply)[0];
        }),
      );
      expect({ round, holders: replies.filter(Boolean).length }).toEqual({ round, holders: 1 });
      const [holder] = contenders.splice(replies.indexOf(true), 1);
      holder?.kill('SIGKILL');
      await once(holder ?? process, 'exit');
      await add();
    }
  });
});
