import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A network path to a server, which can be made slow, lose what is sent on it, be cut, or lead elsewhere. */
export class Proxy {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async to(target: number): Promise<Proxy> {
    const child = fork(join(__dirname, 'proxy-process.cjs'), [`${target}`], { execArgv: [] });
    const [port] = (await once(child, 'message')) as [number];
    return new Proxy(child, port);
  }

  /** From now on, each piece of data takes this long. */
  delay(ms: number): Promise<void> {
    return this.tell(ms);
  }

  /** What the connections that are open now carry is lost without a word, as when the machine behind them is gone. */
  loseConnections(): Promise<void> {
    return this.tell('lose');
  }

  /** Ends the connections that are open now, from both sides. */
  cut(by: 'RST' | 'FIN'): Promise<void> {
    return this.tell(by);
  }

  /** New connections lead to another server, as when a name points elsewhere. */
  leadTo(target: number): Promise<void> {
    return this.tell({ target });
  }

  close(): void {
    this.child.kill('SIGKILL');
  }

  private async tell(message: Serializable): Promise<void> {
    const done = once(this.child, 'message');
    this.child.send(message);
    await done;
  }
}
