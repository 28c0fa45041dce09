import type { DataRecord } from '../../records/record.js';
import type { Page, Unreadable } from '../../runner/ends.js';
import type { Found } from './formats/index.js';
import type { Progress } from './progress.js';

const MAX_RECORDS = 1_000;
/** Characters, as they were in the objects. */
const MAX_TEXT = 2 * 1024 * 1024;

/** What was read since the last page, from one object or from many. */
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

  /** @param length of a text that was taken apart */
  passed(length: number): void {
    this.#text += length;
  }

  refuse(unreadable: Unreadable): void {
    this.#unreadable.push(unreadable);
  }

  note(code: string, message: string): void {
    this.#notes.push({ level: 'warn', code, message });
  }

  /** All of it; the next page begins empty. */
  take(progress: Progress): Page {
    const [records, unreadable, notes] = [this.#records, this.#unreadable, this.#notes];
    this.#records = [];
    this.#unreadable = [];
    this.#notes = [];
    this.#text = 0;
    return { records, cursor: progress.toJson(), unreadable, notes };
  }
}
