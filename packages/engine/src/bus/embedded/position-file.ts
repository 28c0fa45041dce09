import { open, rm, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** How far one consumer has come: the last batch it is done with, and where the one after it begins. */
export interface Position {
  sequence: number;
  /** First sequence of the segment, which is its name, and the offset in it. */
  segment: number;
  offset: number;
  /** Records of the stream up to here. */
  records: number;
}

const SLOT_BYTES = 40;

/**
 * A position on disk: two slots in turn, each with its checksum, so that a crash while one is written leaves the other.
 * It is written at each step and not forced to the disk: a killed process loses nothing, a loss of power repeats
 * what the system had not written yet.
 */
export class PositionFile {
  #generation = 0;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  static async open(path: string): Promise<{ file: PositionFile; position?: Position }> {
    const handle = await open(path, 'a+', 0o600).then(async (made) => {
      // Appending mode makes the file where it is missing; writing at a place needs the other mode.
      await made.close();
      return open(path, 'r+');
    });
    const file = new PositionFile(path, handle);
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    await handle.read(bytes, 0, bytes.length, 0);
    const slots = [0, SLOT_BYTES].map((at) => readSlot(bytes.subarray(at, at + SLOT_BYTES)));
    const [newest] = slots.filter((slot) => slot !== undefined).sort((a, b) => b.generation - a.generation);
    if (!newest) return { file };
    file.#generation = newest.generation;
    return { file, position: newest.position };
  }

  async write(position: Position): Promise<void> {
    this.#generation += 1;
    const slot = Buffer.alloc(SLOT_BYTES);
    slot.writeDoubleLE(position.sequence, 0);
    slot.writeDoubleLE(position.segment, 8);
    slot.writeDoubleLE(position.offset, 16);
    slot.writeDoubleLE(position.records, 24);
    slot.writeUInt32LE(this.#generation, 32);
    slot.writeUInt32LE(crc32(slot.subarray(0, 36)), 36);
    await this.handle.write(slot, 0, SLOT_BYTES, (this.#generation % 2) * SLOT_BYTES);
  }

  async close(): Promise<void> {
    await this.handle.datasync();
    await this.handle.close();
  }

  async remove(): Promise<void> {
    await this.handle.close();
    await rm(this.path, { force: true });
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
