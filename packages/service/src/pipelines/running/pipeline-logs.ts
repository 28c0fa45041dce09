import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PipelineLog, replaceFile, type LogEntry } from '@connector-frame/engine';
import { isErrno } from '../../is-errno.js';
import type { LoggedEntry } from '../../alerts/alert-evaluator.js';
import type { FollowedEntry, LogFilter, LogStart } from '../engine.js';
import { followed, LogFollowers, selects } from './log-followers.js';
import { keyOf, lineOf, removalOf, storedLogs, type LogSource } from './log-lines.js';

export interface PipelineLogsOptions {
  /** The engine's folder. */
  folder: string;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Increases with every process that runs the engine of this folder. */
  epoch: number;
  /** Called when the file could not be written, once until it succeeds again. */
  onFailure: (error: unknown) => void;
  /** Called with each new entry of a pipeline. */
  onEntry?: (entry: LoggedEntry) => void;
}

/** Entries kept per pipeline. */
export const CAPACITY = 200;
/** Entries kept of the API of an organization. */
const API_CAPACITY = 1_000;
/** Entries of the API that are older than this are removed by the next start: 7 days. */
const API_AGE_MS = 7 * 86_400_000;
/** Entries kept of all pipelines and organizations, about 12 MB in the file. The longest logs are shortened first. */
export const MAX_ENTRIES = 50_000;
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

interface Stored {
  source: LogSource;
  readonly log: PipelineLog;
}

/**
 * The logs of all pipelines and of the API, in memory and in one file of the engine's folder. They
 * share one sequence, so that one number resumes a stream over all of them. One append per second
 * writes the new entries of all pipelines, and nothing is written while there are none: ten thousand
 * idle pipelines cost no write and no file each. The file is not synced, so a killed process loses
 * up to the last second, and a power failure possibly more.
 */
export class PipelineLogs {
  readonly #path: string;
  readonly #options: PipelineLogsOptions;
  readonly #logs = new Map<string, Stored>();
  readonly #followers = new LogFollowers();
  #sequence: number;
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
    this.#sequence = SEQUENCE_BASE + options.epoch * SEQUENCES_PER_PROCESS;
    const oldest = options.now() - API_AGE_MS;
    for (const { source, entries } of storedLogs(text, capacityOf)) {
      this.#sequence = Math.max(this.#sequence, entries.at(-1)?.sequence ?? 0);
      const kept = source.pipelineId === undefined ? entries.filter(({ at }) => at > oldest) : entries;
      if (kept.length > 0) this.#create(source, kept);
    }
  }

  /** Reads the logs of earlier processes. Lines that are damaged are skipped. */
  static async open(options: PipelineLogsOptions): Promise<PipelineLogs> {
    return new PipelineLogs(options, await readText(pathIn(options.folder)));
  }

  /** Returns the log of a pipeline. */
  of(pipelineId: string, organizationId?: string): PipelineLog {
    const stored = this.#logs.get(pipelineId);
    if (!stored) return this.#create({ pipelineId, organizationId }, []).log;
    if (organizationId !== undefined) stored.source.organizationId = organizationId;
    return stored.log;
  }

  /** Returns the log of the API of an organization. */
  ofApi(organizationId: string): PipelineLog {
    const source = { organizationId };
    return (this.#logs.get(keyOf(source)) ?? this.#create(source, [])).log;
  }

  /** Yields stored entries of an organization, then new ones. See `PipelineEngine.followLogs`. */
  follow(filter: LogFilter, signal: AbortSignal, { after, since = 0 }: LogStart = {}): AsyncIterable<FollowedEntry> {
    const isAfter = ({ sequence, at }: LogEntry): boolean => (after === undefined ? at >= since : sequence > after);
    return this.#followers.follow(filter, signal, () =>
      [...this.#logs.values()]
        .flatMap(({ source, log }) =>
          source.organizationId !== filter.organizationId
            ? []
            : log
                .entries()
                .filter((entry) => isAfter(entry) && selects(filter, source, entry))
                .map((entry) => followed(source, entry)),
        )
        .sort((one, other) => one.sequence - other.sequence),
    );
  }

  /** Returns the stored entries of all pipelines after a sequence, in order. */
  entriesAfter(sequence: number): LoggedEntry[] {
    const entries = [...this.#logs.values()].flatMap(({ source, log }) =>
      log.entries().flatMap((entry) => (entry.sequence > sequence ? loggedIn(source, entry) : [])),
    );
    return entries.sort((one, other) => one.entry.sequence - other.entry.sequence);
  }

  /** Number of open streams. */
  get followers(): number {
    return this.#followers.size;
  }

  /** Removes the log of a pipeline and ends its streams. */
  remove(pipelineId: string): void {
    if (this.#logs.delete(pipelineId)) this.#write(removalOf({ organizationId: undefined, pipelineId }));
    this.#followers.end(pipelineId);
  }

  /** Removes the logs of pipelines that do not exist. */
  retain(exists: (pipelineId: string) => boolean): void {
    for (const { source } of this.#logs.values())
      if (source.pipelineId !== undefined && !exists(source.pipelineId)) this.remove(source.pipelineId);
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#flush();
  }

  #create(source: LogSource, past: readonly LogEntry[]): Stored {
    const log = new PipelineLog(this.#options.now, {
      capacity: capacityOf(source),
      nextSequence: () => (this.#sequence += 1),
      past,
      onAdd: (entry) => {
        this.#write(lineOf(source, entry));
        this.#followers.add(source, entry);
        for (const logged of loggedIn(source, entry)) this.#options.onEntry?.(logged);
      },
    });
    const stored = { source, log };
    this.#logs.set(keyOf(source), stored);
    return stored;
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
    const text = [...this.#logs.values()]
      .flatMap(({ source, log }) => log.entries().map((entry) => `${lineOf(source, entry)}\n`))
      .join('');
    this.#pending = [];
    await replaceFile(this.#path, text);
    this.#bytes = Buffer.byteLength(text);
    this.#compactAt = Math.max(MIN_COMPACTED_BYTES, 2 * this.#bytes);
    this.#isIncomplete = false;
  }

  /** Shortens the longest logs to one length, so that all together have at most `MAX_ENTRIES`. */
  #trim(): void {
    const logs = [...this.#logs.values()].map(({ log }) => log);
    const total = (length: number): number => logs.reduce((sum, { size }) => sum + Math.min(size, length), 0);
    let length = API_CAPACITY;
    while (length > 1 && total(length) > MAX_ENTRIES) length = Math.floor(length * 0.9);
    if (length < API_CAPACITY) for (const log of logs) log.trim(length);
  }
}

/** Returns the entry if it is of a pipeline whose organization is known. */
const loggedIn = ({ organizationId, pipelineId }: LogSource, entry: LogEntry): LoggedEntry[] =>
  organizationId === undefined || pipelineId === undefined ? [] : [{ organizationId, pipelineId, entry }];

const capacityOf = ({ pipelineId }: LogSource): number => (pipelineId === undefined ? API_CAPACITY : CAPACITY);
const pathIn = (folder: string): string => join(folder, 'pipeline-logs.ndjson');

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
