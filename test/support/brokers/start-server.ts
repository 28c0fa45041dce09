import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Server {
  /** Kills it without a chance to say goodbye. */
  kill(): Promise<void>;
}

const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`;

/**
 * Starts a server and waits until it accepts connections on a port of 127.0.0.1.
 * @param advice how to install it
 */
export async function startServer(
  program: string,
  options: readonly string[],
  port: number,
  advice: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  // A group of its own, so that what a script starts ends with it.
  const child = spawn(program, options, { env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const stop = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  process.once('exit', stop);
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', () => reject(new Error(`No ${program} here. Install it: ${advice}.`)));
    child.once('exit', () => reject(new Error(`${program} ended: ${output}`)));
  });
  // Only the start is awaited; a later end is the test's own doing.
  failed.catch(() => undefined);
  await Promise.race([failed, answers(port)]);
  return {
    async kill() {
      process.off('exit', stop);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      stop();
      await ended;
    },
  };
}

async function answers(port: number): Promise<void> {
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await delay(20);
  }
}
