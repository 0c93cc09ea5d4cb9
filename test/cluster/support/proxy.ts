import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onEnd } from '../../support/cleanup';

/** A TCP proxy that can delay data, drop it, close connections, or switch to another server. */
export class Proxy {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(target: number): Promise<Proxy> {
    const child = fork(join(__dirname, 'proxy-process.cjs'), [`${target}`], { execArgv: [] });
    onEnd(() => child.kill('SIGKILL'));
    const [port] = (await once(child, 'message')) as [number];
    return new Proxy(child, port);
  }

  /** Delays all data by this time from now on. */
  delay(ms: number): Promise<void> {
    return this.send(ms);
  }

  /** Silently drops all data on the open connections, as if the machine behind them had disappeared. */
  dropData(): Promise<void> {
    return this.send('lose');
  }

  /** Silently drops the next data with this text, and what follows it on its connection. */
  dropFrom(text: string): Promise<void> {
    return this.send({ lastText: text });
  }

  /** Closes the open connections on both sides. */
  closeConnections(by: 'RST' | 'FIN'): Promise<void> {
    return this.send(by);
  }

  /** Connects new connections to another server, as after a DNS change. */
  switchTo(target: number): Promise<void> {
    return this.send({ target });
  }

  /** Suspends the proxy, like a network that loses all packets for a while. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  private async send(message: Serializable): Promise<void> {
    const done = once(this.child, 'message');
    this.child.send(message);
    await done;
  }
}
