import { constants } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeAll } from '../../files/durable.js';
import { IdleFile, type FileHandlePool } from '../../files/idle-file.js';
import { isErrno } from '../../files/is-errno.js';
import { laterFirst, nextGeneration } from './generation.js';

/** Progress of one consumer: the last acknowledged batch, and where the next one begins. */
export interface Position {
  sequence: number;
  /** First sequence of the segment (also its name), and the byte offset in it. */
  segment: number;
  offset: number;
  /** Records of the stream up to this position. */
  records: number;
}

const SLOT_BYTES = 40;

/**
 * Stores a position in two alternating slots, each with a checksum, so that a crash while one is
 * written leaves the other intact. Each update is written but not synced: a killed process loses
 * nothing; after a power failure, batches whose acknowledgment had not reached the disk are
 * redelivered.
 */
export class PositionFile {
  readonly #path: string;
  #generation = 0;
  #created: boolean;
  readonly #file: IdleFile;

  private constructor(path: string, files: FileHandlePool, created: boolean) {
    this.#path = path;
    this.#file = new IdleFile(path, constants.O_RDWR | constants.O_CREAT, files);
    this.#created = created;
  }

  /**
   * Opens the file, which is created on the first write.
   * @param isNew the file does not exist
   */
  static async open(
    path: string,
    files: FileHandlePool,
    isNew = false,
  ): Promise<{ file: PositionFile; position?: Position }> {
    const saved = isNew ? undefined : await contentOf(path);
    const file = new PositionFile(path, files, saved !== undefined);
    if (!saved) return { file };
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    saved.copy(bytes);
    const slots = [0, SLOT_BYTES].map((at) => readSlot(bytes.subarray(at, at + SLOT_BYTES)));
    const [newest] = slots.filter((slot) => slot !== undefined).sort(laterFirst);
    if (!newest) return { file };
    file.#generation = newest.generation;
    return { file, position: newest.position };
  }

  async write(position: Position): Promise<void> {
    const generation = nextGeneration(this.#generation);
    const slot = Buffer.alloc(SLOT_BYTES);
    slot.writeDoubleLE(position.sequence, 0);
    slot.writeDoubleLE(position.segment, 8);
    slot.writeDoubleLE(position.offset, 16);
    slot.writeDoubleLE(position.records, 24);
    slot.writeUInt32LE(generation, 32);
    slot.writeUInt32LE(crc32(slot.subarray(0, 36)), 36);
    if (!this.#created) await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const offset = (generation % 2) * SLOT_BYTES;
    await this.#file.use((handle) => writeAll(handle, slot, offset));
    this.#created = true;
    // Only now: after a failed write, the next one must not overwrite the intact slot.
    this.#generation = generation;
  }

  /** Whether the file exists, so that a write needs no space. */
  get created(): boolean {
    return this.#created;
  }

  close(): Promise<void> {
    return this.#file.close((handle) => handle.datasync());
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function readSlot(slot: Buffer): { generation: number; position: Position } | undefined {
  if (crc32(slot.subarray(0, 36)) !== slot.readUInt32LE(36)) return undefined;
  return {
    generation: slot.readUInt32LE(32),
    position: {
      sequence: slot.readDoubleLE(0),
      segment: slot.readDoubleLE(8),
      offset: slot.readDoubleLE(16),
      records: slot.readDoubleLE(24),
    },
  };
}
