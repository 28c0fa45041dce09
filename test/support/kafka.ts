import { execFileSync, spawn, type ChildProcess } from 'node:child_process';

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
  const server = spawn('kcat', options, { stdio: ['ignore', 'ignore', 'pipe'] });
  const leave = (): void => void server.kill('SIGKILL');
  process.once('exit', leave);
  return {
    brokers: await ready(server),
    close: () =>
      new Promise((resolve) => {
        process.removeListener('exit', leave);
        server.once('exit', () => resolve());
        server.kill('SIGKILL');
      }),
  };
}

function ready(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (log.length < 65_536) log += text;
      const [, brokers] = /bootstrap\.servers=([\d.:,]+)/.exec(log) ?? [];
      if (brokers !== undefined && log.includes('initialized')) resolve(brokers);
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`No Kafka:\n${log}`)));
  });
}

/** Runs `kcat` against a cluster, as a client independent of the one under test. */
export function kcat(brokers: string, args: readonly string[], input = ''): string {
  return execFileSync('kcat', ['-b', brokers, ...args], {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 30_000,
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
