import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileOutput } from './file-output.js';
import {
  ConnectorError,
  type CreateOutput,
  failureOf,
  isErrno,
  type Output,
} from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

/**
 * Same pattern as in the catalog. It allows one dot; rotated files have two, so a name can't
 * collide with a rotated file.
 */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.(?:ndjson|jsonl|json|log)$/;
const MEGABYTE = 1_000_000;

/**
 * Open outputs by path. Pipelines that write to the same file must share one output, which tracks
 * the end of the file.
 */
const open = new Map<string, { output: Output; users: number }>();

/**
 * Writes records as JSON lines to a local file in the context's `filesFolder`, and nowhere else. A
 * batch is on disk once `write` resolves. If two pipelines share a file, the limits of the first
 * one apply.
 */
export const createFileConnectorOutput: CreateOutput = ({ settings }, { filesFolder }): Output => {
  if (filesFolder === undefined) {
    throw new ConnectorError(
      'not_enabled',
      'Writing files on this machine is switched off. An administrator opens a folder with FILE_OUTPUT_DIR.',
      'permanent',
    );
  }
  const name = text(settings, 'file_name') ?? '';
  if (!NAME.test(name)) throw invalidConfig('This is not a name for a file: letters, digits, dashes, and an ending.');
  const path = join(filesFolder, name);
  const size = at(settings, 'max_file_size');
  const keepFiles = at(settings, 'keep_files');
  const make = (): Output =>
    createFileOutput({
      path,
      maxBytes: (typeof size === 'number' && size >= 1 ? size : 64) * MEGABYTE,
      ...(typeof keepFiles === 'number' && keepFiles >= 1 && { keepFiles }),
    });

  let held: Output | undefined;
  const hold = (): Output => {
    if (held) return held;
    const shared = open.get(path) ?? { output: make(), users: 0 };
    shared.users += 1;
    open.set(path, shared);
    held = shared.output;
    return held;
  };
  return {
    async open() {
      await expectPlace(filesFolder, path);
      hold();
    },
    write: (batch, signal) => hold().write(batch, signal),
    close() {
      const shared = open.get(path);
      if (held && shared) shared.users -= 1;
      held = undefined;
      if (shared?.users === 0) open.delete(path);
      return Promise.resolve();
    },
  };
};

/** Rejects anything but a regular file at `path`: a symbolic link could lead out of the folder. */
async function expectPlace(folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(path).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (found && !found.isFile())
      throw new ConnectorError('file', 'Something other than a regular file has this name.', 'permanent');
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    const { code } = failureOf(error);
    throw new ConnectorError('file', `The folder for files can not be used (${code}).`, 'retry');
  }
}
