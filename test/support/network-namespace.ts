import { spawn, spawnSync } from 'node:child_process';

/**
 * A new namespace has no network except its own loopback. `ip route add local` (AnyIP) makes every
 * address local, so that connections to any address arrive at a server of the test.
 */
const SETUP = [
  'ip link set lo up',
  'ip route add local 0.0.0.0/0 dev lo',
  'ip -6 route add local ::/0 dev lo',
  'exec "$0" "$@"',
].join(' && ');

/** Commands that create a namespace: as root, or with a user namespace. */
const unshareCommands = [
  ['unshare', '--net'],
  ['unshare', '--map-root-user', '--net'],
] as const;

const isolatedCommand = (unshare: readonly string[], command: readonly string[]): [program: string, args: string[]] => {
  const [program = '', ...args] = unshare;
  return [program, [...args, 'sh', '-c', SETUP, ...command]];
};

const usable = unshareCommands.find(
  (unshare) => spawnSync(...isolatedCommand(unshare, ['true']), { stdio: 'ignore' }).status === 0,
);

/**
 * Whether this machine can create a network namespace (Linux, root or user namespaces, `ip` of
 * iproute2).
 */
export const canIsolate = usable !== undefined;

/**
 * Runs a command in a new network namespace and returns its output.
 * @throws Error with the command's error output if it fails
 */
export function runIsolated(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  if (!usable) throw new Error('This machine cannot make a network namespace.');
  const child = spawn(...isolatedCommand(usable, command), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`It ended with ${code}: ${stderr.slice(-4_000)}`));
    });
  });
}
