import { spawnSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { chown } from 'node:fs/promises';

/** A user id and group id of this machine. */
export interface Account {
  uid: number;
  gid: number;
}

/** How to start a program that must not run as root. */
export interface Launch {
  /** Program and arguments to put before the program's own. */
  prefix: readonly string[];
  /** Account that owns its files; `undefined` is that of this process. */
  account: Account | undefined;
}

/** Exists on every Unix, owns no files, and may not sign in. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/**
 * Returns how to start PostgreSQL, which refuses to run as root. A service that runs as root starts
 * it as the owner of the data or, for new data, as `nobody`. The folders above the data may be
 * closed to that account, as the data folder itself is; it then keeps the one capability that opens
 * them to it. `undefined` if this machine has no way to do that.
 * @param data folder of the database, which may be missing
 */
export function launchFor(data: string): Launch | undefined {
  if (process.getuid?.() !== 0) return { prefix: [], account: undefined };
  const owner = lstatSync(data, { throwIfNoEntry: false });
  const account = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : NOBODY;
  const options = [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
    '--',
  ];
  // `initdb` looks for its other programs with `access`, which ignores capabilities of a user other
  // than root without this bit. A container may forbid it.
  for (const securebits of [['--securebits=+no_setuid_fixup'], []]) {
    const prefix = [...securebits, ...options];
    if (spawnSync('setpriv', [...prefix, 'true'], { stdio: 'ignore' }).status === 0)
      return { prefix: ['setpriv', ...prefix], account };
  }
  return undefined;
}

/** Gives a file or folder to the account. */
export async function giveTo(path: string, { account }: Launch): Promise<void> {
  if (account) await chown(path, account.uid, account.gid);
}
