import type { DataRecord, JsonValue, Page, Unreadable } from '@connector-frame/engine/connector-api';
import type { Found } from '../formats/index.js';

const MAX_RECORDS = 1_000;
/** Maximum characters of decompressed text. */
const MAX_TEXT = 2 * 1024 * 1024;

/** Collects what was read since the last page, from one object or several. */
export class PageBuilder {
  #records: DataRecord[] = [];
  #unreadable: Unreadable[] = [];
  #notes: NonNullable<Page['notes']>[number][] = [];
  #text = 0;

  get isEmpty(): boolean {
    return this.#records.length === 0 && this.#unreadable.length === 0 && this.#notes.length === 0;
  }

  get isFull(): boolean {
    return this.#records.length >= MAX_RECORDS || this.#unreadable.length >= MAX_RECORDS || this.#text >= MAX_TEXT;
  }

  add(found: Found): void {
    if ('record' in found) this.#records.push(found.record);
    else this.#unreadable.push(found.unreadable);
  }

  /** @param length number of parsed characters */
  passed(length: number): void {
    this.#text += length;
  }

  reject(unreadable: Unreadable): void {
    this.#unreadable.push(unreadable);
  }

  note(code: string, message: string): void {
    this.#notes.push({ level: 'warn', code, message });
  }

  /** Returns the collected page and starts an empty one. */
  take(progress: { toJson(): JsonValue }): Page {
    const [records, unreadable, notes] = [this.#records, this.#unreadable, this.#notes];
    this.#records = [];
    this.#unreadable = [];
    this.#notes = [];
    this.#text = 0;
    return { records, cursor: progress.toJson(), unreadable, notes };
  }
}
