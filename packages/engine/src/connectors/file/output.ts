import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileOutput } from '../../ends/file-output.js';
import { EndError, failureOf, type Output } from '../../runner/ends.js';
import type { CreateOutput } from '../connector-code.js';
import { invalidConfig } from '../output/send.js';
import { at, text } from '../read.js';
import { isErrno } from '../../files/is-errno.js';

/** As the catalog has it. One dot: full files have two, so no name can be that of a full one. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.(?:ndjson|jsonl|json|log)$/;
const MEGABYTE = 1_000_000;

/** Two pipelines may write to one file: what knows its end must be one for both. By path. */
const open = new Map<string, { output: Output; users: number }>();

/**
 * Records as lines of JSON in a file of this machine, in the folder that the context names and nowhere else; on disk
 * once a batch is written. Which bound of two pipelines with one file counts is that of the first.
 */
export const createFileConnectorOutput: CreateOutput = ({ settings }, { filesFolder }): Output => {
  if (filesFolder === undefined) {
    throw new EndError(
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

/** A link there could lead out of the folder. */
async function expectPlace(folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(path).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (found && !found.isFile())
      throw new EndError('file', 'There is something else than a file by this name.', 'permanent');
  } catch (error) {
    if (error instanceof EndError) throw error;
    const { code } = failureOf(error);
    throw new EndError('file', `The folder for files can not be used (${code}).`, 'retry');
  }
}
