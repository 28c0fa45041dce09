import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A Kafka cluster of librdkafka's mock brokers, which Debian's `kcat` can start. They keep messages
 * in memory and assign partitions to consumer groups; they support no TLS, authentication,
 * authorization or limits.
 */
export interface Kafka {
  /** `host:port,host:port`. */
  brokers: string;
  close(): Promise<void>;
}

/**
 * Starts the cluster on free ports of 127.0.0.1. Topics are created on first use, with four
 * partitions each.
 */
export async function startKafka(count = 2): Promise<Kafka> {
  if (!found())
    throw new Error('No kcat here. Install it: apt-get install kcat (Debian, Ubuntu), brew install kcat (macOS).');
  const options = [
    '-X',
    `test.mock.num.brokers=${count}`,
    '-d',
    'mock',
    '-C',
    '-q',
    '-t',
    'nobody-writes-here',
    '-b',
    'none',
  ];
  // A file, not a pipe: the brokers log every request, and a pipe that is not read for a while, as
  // during a blocking call, would stop them.
  const folder = await mkdtemp(join(tmpdir(), 'kafka-'));
  const logFile = join(folder, 'log');
  const log = await open(logFile, 'w');
  const server = spawn('kcat', options, { stdio: ['ignore', 'ignore', log.fd] });
  await log.close();
  const leave = (): void => void server.kill('SIGKILL');
  process.once('exit', leave);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    process.removeListener('exit', leave);
    server.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  };
  for (;;) {
    const text = await readFile(logFile, 'utf8');
    const [, brokers] = /bootstrap\.servers=([\d.:,]+)/.exec(text) ?? [];
    if (brokers !== undefined && text.includes('initialized')) return { brokers, close };
    if (server.exitCode !== null || server.signalCode !== null) throw new Error(`No Kafka:\n${text}`);
    await delay(20);
  }
}

/** Runs `kcat` against a cluster, as a client independent of the one under test. */
export function kcat(brokers: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('kcat', ['-b', brokers, ...args], { timeout: 60_000 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(input);
  });
}

function found(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v kcat'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
