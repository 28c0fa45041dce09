import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JsonValue } from '../../connector-api/record.js';
import { FileHandlePool } from '../../files/idle-file.js';
import { PositionFile } from './position-file.js';
import { SlotFile } from './slot-file.js';

const LAST = 0xff_ff_ff_ff;
const at = (sequence: number) => ({ sequence, segment: 1, offset: sequence, records: sequence });

let path: string;
const files = new FileHandlePool();

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'slots-')), 'file');
});
afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));

it('a position is saved after 2³² writes', async () => {
  const { file: first } = await PositionFile.open(path, files, true);
  await first.write(at(1));
  await first.close();
  // The slot of odd generations, as the last of 2³² writes leaves it.
  const bytes = await readFile(path);
  bytes.writeUInt32LE(LAST, 40 + 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(40, 40 + 36)), 40 + 36);
  await writeFile(path, bytes);
  for (let sequence = 2; sequence < 6; sequence += 1) {
    const { file, position } = await PositionFile.open(path, files);
    expect(position).toEqual(at(sequence - 1));
    await file.write(at(sequence));
    await file.close();
  }
});

it('a value is saved after 2³² writes', async () => {
  let value = 1;
  let loaded: JsonValue | undefined;
  const open = (isNew = false) =>
    SlotFile.open(
      path,
      64,
      files,
      () => value,
      (saved) => (loaded = saved),
      isNew,
    );
  const first = await open(true);
  await first.save();
  await first.close();
  const bytes = await readFile(path);
  bytes.writeUInt32LE(LAST, 64 + 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(64 + 4, 64 + 12 + 1)), 64);
  await writeFile(path, bytes);
  while (value < 5) {
    const file = await open();
    expect(loaded).toBe(value);
    value += 1;
    await file.save();
    await file.close();
  }
});
