import { constants } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { JsonValue } from '../../connector-api/record.js';
import { writeAll } from '../../files/durable.js';
import { IdleFile, type FileHandlePool } from '../../files/idle-file.js';
import { isErrno } from '../../files/is-errno.js';
import { laterFirst, nextGeneration } from './generation.js';

/** Bytes before the JSON of a slot: checksum, generation, length. */
const HEAD_BYTES = 12;

/**
 * A small JSON value that is overwritten in place, in two alternating slots with a checksum each: a
 * crash during a write leaves the other slot intact, and a write on a full disk needs no space.
 * Writes are not synced: a killed process loses nothing, a power failure loses the latest values.
 */
export class SlotFile {
  readonly #path: string;
  readonly #slotBytes: number;
  readonly #value: () => JsonValue;
  readonly #file: IdleFile;
  #generation = 0;
  #exists: boolean;
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  private constructor(
    path: string,
    slotBytes: number,
    files: FileHandlePool,
    value: () => JsonValue,
    generation: number | undefined,
  ) {
    this.#path = path;
    this.#slotBytes = slotBytes;
    this.#value = value;
    this.#file = new IdleFile(path, constants.O_RDWR | constants.O_CREAT, files);
    this.#generation = generation ?? 0;
    this.#exists = generation !== undefined;
  }

  /**
   * Opens a file. It is created by the first `save`.
   * @param slotBytes maximum bytes of the JSON, plus 12. It may grow between releases only
   * @param value returns the value to save
   * @param load receives the saved value, if there is one
   * @param isNew the file does not exist
   */
  static async open(
    path: string,
    slotBytes: number,
    files: FileHandlePool,
    value: () => JsonValue,
    load: (saved: JsonValue) => void,
    isNew: boolean,
  ): Promise<SlotFile> {
    const bytes = isNew ? undefined : await contentOf(path);
    const slots = bytes ? [0, slotBytes].map((at) => readSlot(bytes.subarray(at, at + slotBytes))) : [];
    const [newest] = slots.filter((slot) => slot !== undefined).sort(laterFirst);
    if (newest) load(newest.value);
    return new SlotFile(path, slotBytes, files, value, bytes && (newest?.generation ?? 0));
  }

  /** Creates the file, so that later writes need no space. */
  async reserve(): Promise<void> {
    if (!this.#exists) await this.save();
  }

  /** Writes the current value. Calls during a write share the next one. */
  save(): Promise<void> {
    return (this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      const writing = this.#write();
      this.#writing = writing.catch(() => undefined);
      return writing;
    }));
  }

  /** Syncs what has been saved. */
  async sync(): Promise<void> {
    await this.#writing;
    if (this.#exists) await this.#file.use((handle) => handle.datasync());
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => undefined);
    await this.#writing;
    await this.#file.close((handle) => handle.datasync());
  }

  async remove(): Promise<void> {
    await this.#next?.catch(() => undefined);
    await this.#writing;
    await this.#file.close();
    await rm(this.#path, { force: true });
  }

  async #write(): Promise<void> {
    const generation = nextGeneration(this.#generation);
    const json = Buffer.from(JSON.stringify(this.#value()));
    if (json.length > this.#slotBytes - HEAD_BYTES) throw new RangeError(`${json.length} bytes do not fit.`);
    // The first write allocates both slots.
    const isFirst = !this.#exists;
    const slot = Buffer.alloc(isFirst ? 2 * this.#slotBytes : this.#slotBytes);
    const at = isFirst ? (generation % 2) * this.#slotBytes : 0;
    slot.writeUInt32LE(generation, at + 4);
    slot.writeUInt32LE(json.length, at + 8);
    json.copy(slot, at + HEAD_BYTES);
    slot.writeUInt32LE(crc32(slot.subarray(at + 4, at + HEAD_BYTES + json.length)), at);
    if (isFirst) await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await this.#file.use((handle) => writeAll(handle, slot, isFirst ? 0 : (generation % 2) * this.#slotBytes));
    this.#exists = true;
    this.#generation = generation;
  }
}

function readSlot(slot: Buffer): { generation: number; value: JsonValue } | undefined {
  if (slot.length < HEAD_BYTES) return undefined;
  const end = HEAD_BYTES + slot.readUInt32LE(8);
  if (end > slot.length || end === HEAD_BYTES || crc32(slot.subarray(4, end)) !== slot.readUInt32LE(0))
    return undefined;
  const value: JsonValue = JSON.parse(slot.toString('utf8', HEAD_BYTES, end));
  return { generation: slot.readUInt32LE(4), value };
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
