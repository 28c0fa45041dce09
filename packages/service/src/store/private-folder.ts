import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../is-errno.js';

/**
 * Other users can read a file of the service, and its mode can't be changed. The message names the
 * file and the remedy.
 */
export class FolderNotPrivateError extends Error {
  override readonly name = 'FolderNotPrivateError';
}

/** Permission bits of the group and of others. */
const OTHERS = 0o077;
const STICKY = 0o1000;
const ADVICE =
  'Give it to the user that runs the service, or set DATA_DIR to a folder that does not exist yet: the service creates it.';

/**
 * Creates a folder if it is missing, and removes all group and other permissions from it and from
 * its contents. On Windows it only creates the folder, since access is inherited from the parent
 * folder.
 * @param folder may be a symbolic link; links inside it are not followed
 * @param included selects the entries to protect, with their contents. Default: all. The service
 *   does not change files that it did not create, in case the folder has other uses
 * @throws FolderNotPrivateError
 */
export function protectFolder(folder: string, included: (name: string) => boolean = () => true): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  const path = realpathSync(folder);
  if ((statSync(path).mode & STICKY) !== 0) {
    throw new FolderNotPrivateError(`${folder} is a folder that users share. Set DATA_DIR to a folder inside it.`);
  }
  protect(path, included);
}

/** Tightens a folder before its entries, so that other users can't replace an entry in between. */
function protect(path: string, included: (name: string) => boolean): void {
  const stats = statIfPresent(path);
  if (!stats) return;
  if (stats.isSymbolicLink()) return checkTarget(path);
  if (!stats.isDirectory() && !stats.isFile()) return;
  if ((stats.mode & OTHERS) !== 0) tighten(path);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) if (included(name)) protect(join(path, name), () => true);
}

/** Returns `undefined` if the entry was removed in the meantime. */
function statIfPresent(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function tighten(path: string): void {
  let file: number;
  try {
    // Uses a descriptor, so that the file that was checked is the file that is changed, never the
    // target of a link.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw openToOthers(path, error);
  }
  try {
    const stats = fstatSync(file);
    if (stats.isFile() && stats.nlink > 1) {
      throw new FolderNotPrivateError(`${path} can be read by other users and has another name elsewhere. Remove it.`);
    }
    try {
      fchmodSync(file, stats.mode & 0o7777 & ~OTHERS);
    } catch (error) {
      throw openToOthers(path, error);
    }
    // Some file systems (FAT, some network shares) accept the change and ignore it.
    if ((fstatSync(file).mode & OTHERS) !== 0) throw openToOthers(path);
  } finally {
    closeSync(file);
  }
}

/**
 * The target of a link may be anything on the machine, so its mode is checked and never changed.
 */
function checkTarget(path: string): void {
  const target = statSync(path, { throwIfNoEntry: false });
  if (target && (target.mode & OTHERS) !== 0) {
    throw new FolderNotPrivateError(
      `${path} is a link to ${realpathSync(path)}, which other users can read. Set its mode to ${target.isDirectory() ? '0700' : '0600'}.`,
    );
  }
}

const openToOthers = (path: string, cause?: unknown): FolderNotPrivateError =>
  new FolderNotPrivateError(`${path} can be read by other users, and its mode can't be changed. ${ADVICE}`, { cause });
