import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageSettings } from './files.js';

/**
 * Builds the root of a container in a mount namespace: programs and libraries of this machine, the
 * image's files at /app, and Node.js, all read-only; a small /tmp without programs; and the data as
 * the only place to write to. Then runs the command as the user of the image, without capabilities.
 * Arguments: root, image, folder of Node.js, data, volume, user, group, command.
 */
const CONTAINER = `
set -eu
root=$1 image=$2 node=$3 data=$4 volume=$5 user=$6 group=$7
shift 7
mount -t tmpfs -o mode=0755 none "$root"
cd "$root"
mkdir -p app dev etc node proc tmp usr "./$volume" run/secrets
for each in bin lib lib64 sbin; do if [ -e "/$each" ]; then ln -s "usr/$each" "$each"; fi; done
for each in hosts nsswitch.conf; do if [ -e "/etc/$each" ]; then cp "/etc/$each" etc/; fi; done
echo "connector:x:$user:$group::/nonexistent:/usr/sbin/nologin" > etc/passwd
echo "connector:x:$group:" > etc/group
bind() { mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"; }
bind /usr usr
bind "$image" app
bind "$node" node
if [ -n "$SECRETS" ]; then
  for each in "$SECRETS"/*; do
    touch "run/secrets/\${each##*/}"
    bind "$each" "run/secrets/\${each##*/}"
  done
fi
mount --bind "$data" "./$volume"
mount --bind /proc proc
mount --rbind /dev dev
mount -t tmpfs -o size=64m,mode=1777,noexec,nosuid,nodev none tmp
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all env -u SECRETS PATH=/node/bin:/usr/bin:/bin "$@"
`;

/** Whether this machine can build the root of a container: Linux, root, and the programs of util-linux. */
export const canContain =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'setpriv', 'true'], { stdio: 'ignore' }).status === 0;

/** Files of an image, and what a runtime knows about it. */
export interface Image {
  folder: string;
  /** Folder of Node.js in the version of the image, with `bin`. */
  node: string;
  /** For the roots of containers and their volumes. */
  place: string;
  settings: ImageSettings;
}

/** Creates an empty volume that belongs to the image's user, as Docker does. */
export function dockerVolume({ place, settings }: Image): string {
  const path = mkdtempSync(join(place, 'volume-'));
  execFileSync('chown', [settings.user, path]);
  return path;
}

/** Creates a volume as Kubernetes does with `fsGroup`: of root, with the group of the image's user. */
export function kubernetesVolume({ place, settings }: Image): string {
  const path = mkdtempSync(join(place, 'volume-'));
  mkdirSync(join(path, 'lost+found'), { mode: 0o700 });
  execFileSync('chown', [`0:${settings.user.split(':')[1]}`, path]);
  execFileSync('chmod', ['2775', path]);
  return path;
}

/**
 * Returns the command that runs the image's entry point, or another command, in a container.
 * @param secrets folder to mount at /run/secrets
 */
export function containerCommand(
  { folder, node, place, settings }: Image,
  volume: string,
  { command = settings.entrypoint, secrets = '' }: { command?: readonly string[]; secrets?: string } = {},
): string[] {
  const [user = '', group = ''] = settings.user.split(':');
  const root = mkdtempSync(join(place, 'container-'));
  const words = [root, folder, node, volume, settings.volume, user, group, ...command];
  return ['env', `SECRETS=${secrets}`, 'unshare', '--mount', 'sh', '-c', CONTAINER, 'sh', ...words];
}

/** Runs a command in a container to its end. */
export function runContained(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const [program = '', ...words] = command;
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
