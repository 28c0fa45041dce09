import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, PipelineLog, replaceFile, type LogEntry } from '@connector-frame/engine';
import { isErrno } from '../../is-errno.js';

export interface PipelineLogsOptions {
  /** The engine's folder. */
  folder: string;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Increases with every process that runs the engine of this folder. */
  epoch: number;
  /** Called when the file could not be written, once until it succeeds again. */
  onFailure: (error: unknown) => void;
}

/** Entries kept per pipeline. */
const CAPACITY = 200;
/** Entries kept of all pipelines, about 12 MB in the file. The longest logs are shortened first. */
const MAX_ENTRIES = 50_000;
/** Characters of a stored message. */
const MAX_MESSAGE = 1_000;
/** Milliseconds from a new entry to its write, and from a failed write to the next attempt. */
const FLUSH_MS = 1_000;
const RETRY_MS = 5_000;
/** The file is compacted when it has twice the size of its last compaction, but not below this. */
const MIN_COMPACTED_BYTES = 1024 * 1024;
/**
 * Sequence numbers reserved for each process, so that those of a later process are higher even if a
 * kill has lost the last entries of an earlier one. The base is higher than the sequence numbers of
 * releases that began with the time in milliseconds.
 */
const SEQUENCES_PER_PROCESS = 2 ** 32;
const SEQUENCE_BASE = 2 ** 41;

/**
 * The logs of all pipelines, in memory and in one file of the engine's folder. One append per second
 * writes the new entries of all pipelines, and nothing is written while there are none: ten thousand
 * idle pipelines cost no write and no file each. The file is not synced, so a killed process loses
 * up to the last second, and a power failure possibly more.
 */
export class PipelineLogs {
  readonly #path: string;
  readonly #options: PipelineLogsOptions;
  readonly #logs = new Map<string, PipelineLog>();
  #pending: string[] = [];
  #bytes: number;
  #compactAt = MIN_COMPACTED_BYTES;
  /** The file does not have what is in memory, or ends within a line. */
  #isIncomplete: boolean;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(options: PipelineLogsOptions, text: string) {
    this.#options = options;
    this.#path = pathIn(options.folder);
    this.#bytes = Buffer.byteLength(text);
    this.#isIncomplete = text !== '' && !text.endsWith('\n');
    for (const [id, past] of entriesIn(text)) this.#logs.set(id, this.#create(id, past));
  }

  /** Reads the logs of earlier processes. Lines that are damaged are skipped. */
  static async open(options: PipelineLogsOptions): Promise<PipelineLogs> {
    return new PipelineLogs(options, await readText(pathIn(options.folder)));
  }

  /** Returns the log of a pipeline. */
  of(id: string): PipelineLog {
    let log = this.#logs.get(id);
    if (!log) this.#logs.set(id, (log = this.#create(id, [])));
    return log;
  }

  /** Removes the log of a pipeline. */
  remove(id: string): void {
    if (!this.#logs.delete(id)) return;
    this.#write(JSON.stringify({ removed: id }));
  }

  /** Removes the logs of pipelines that do not exist. */
  retain(exists: (id: string) => boolean): void {
    for (const id of this.#logs.keys()) if (!exists(id)) this.remove(id);
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#flush();
  }

  #create(id: string, past: readonly LogEntry[]): PipelineLog {
    return new PipelineLog(this.#options.now, {
      capacity: CAPACITY,
      before: SEQUENCE_BASE + this.#options.epoch * SEQUENCES_PER_PROCESS,
      past,
      onAdd: (entry) => this.#write(lineOf(id, entry)),
    });
  }

  #write(line: string): void {
    this.#pending.push(line);
    if (!this.#closed) this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_MS).unref();
  }

  #flush(): Promise<void> {
    this.#timer = undefined;
    return (this.#turn = this.#turn.then(() => this.#save()));
  }

  async #save(): Promise<void> {
    const lines = this.#pending;
    this.#pending = [];
    if (lines.length === 0 && !this.#isIncomplete) return;
    this.#trim();
    try {
      const text = lines.map((line) => `${line}\n`).join('');
      const bytes = this.#bytes + Buffer.byteLength(text);
      if (this.#isIncomplete || bytes > this.#compactAt) await this.#compact();
      else {
        // Until the write has succeeded, the file may end within a line.
        this.#isIncomplete = true;
        await appendFile(this.#path, text, { mode: 0o600 });
        this.#isIncomplete = false;
        this.#bytes = bytes;
      }
      this.#hasFailed = false;
    } catch (error) {
      this.#isIncomplete = true;
      if (!this.#hasFailed) this.#options.onFailure(error);
      this.#hasFailed = true;
      if (!this.#closed) this.#timer ??= setTimeout(() => void this.#flush(), RETRY_MS).unref();
    }
  }

  /** Replaces the file by what is in memory. Entries added meanwhile are appended later, once. */
  async #compact(): Promise<void> {
    const text = [...this.#logs]
      .flatMap(([id, log]) => log.entries().map((entry) => `${lineOf(id, entry)}\n`))
      .join('');
    this.#pending = [];
    await replaceFile(this.#path, text);
    this.#bytes = Buffer.byteLength(text);
    this.#compactAt = Math.max(MIN_COMPACTED_BYTES, 2 * this.#bytes);
    this.#isIncomplete = false;
  }

  /** Shortens the longest logs to one length, so that all together have at most `MAX_ENTRIES`. */
  #trim(): void {
    const logs = [...this.#logs.values()];
    const total = (length: number): number => logs.reduce((sum, { size }) => sum + Math.min(size, length), 0);
    let length = CAPACITY;
    while (length > 1 && total(length) > MAX_ENTRIES) length = Math.floor(length * 0.9);
    if (length < CAPACITY) for (const log of logs) log.trim(length);
  }
}

const pathIn = (folder: string): string => join(folder, 'pipeline-logs.ndjson');

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

const lineOf = (pipeline: string, entry: LogEntry): string =>
  JSON.stringify({ pipeline, ...entry, message: entry.message.slice(0, MAX_MESSAGE) });

function entriesIn(text: string): Map<string, LogEntry[]> {
  const byPipeline = new Map<string, LogEntry[]>();
  for (const line of text.split('\n')) {
    const value = parse(line);
    if (!isRecord(value)) continue;
    const { pipeline, removed, ...entry } = value;
    if (typeof removed === 'string') byPipeline.delete(removed);
    if (typeof pipeline !== 'string' || !isLogEntry(entry)) continue;
    const entries = byPipeline.get(pipeline) ?? [];
    byPipeline.set(pipeline, entries);
    if (entry.sequence > (entries.at(-1)?.sequence ?? 0)) entries.push(entry);
    if (entries.length > 2 * CAPACITY) entries.splice(0, CAPACITY);
  }
  return byPipeline;
}

function parse(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isLogEntry = (value: object): value is LogEntry => {
  const { sequence, at, level, code, message, nodeId }: Partial<Record<keyof LogEntry, unknown>> = value;
  return (
    Number.isSafeInteger(sequence) &&
    Number.isSafeInteger(at) &&
    (level === 'info' || level === 'warn' || level === 'error') &&
    typeof code === 'string' &&
    typeof message === 'string' &&
    (nodeId === undefined || typeof nodeId === 'string')
  );
};
