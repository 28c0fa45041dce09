import { execFileSync, spawn, type ChildProcess } from 'node:child_process';

/**
 * A Kafka cluster in the protocol alone: the mock brokers inside of librdkafka, which Debian's `kcat` can start. They keep
 * messages in memory and share out consumer groups; they know no TLS, no sign-in, no rights and no limits.
 */
export interface Kafka {
  /** `host:port,host:port`. */
  brokers: string;
  close(): Promise<void>;
}

/** Starts it, on free ports of 127.0.0.1. Topics are made when they are first asked for, with four partitions each. */
export async function startKafka(count = 2): Promise<Kafka> {
  ensureKcat();
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

/** Runs `kcat` against a cluster: a client that is not the one under test. */
export function kcat(brokers: string, args: readonly string[], input = ''): string {
  return execFileSync('kcat', ['-b', brokers, ...args], {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 30_000,
  });
}

function ensureKcat(): void {
  if (found()) return;
  const advice = 'Install kcat (Debian: apt-get install kcat) and run the test again.';
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error(`kcat is missing. ${advice}`);
  const apt = (...args: string[]): unknown =>
    execFileSync('apt-get', args, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', 'kcat');
  if (!found()) throw new Error(`kcat could not be installed. ${advice}`);
}

function found(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v kcat'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
