import type { Bus, Lost, StreamStats } from '../bus/bus.js';
import type { DeadLetters } from '../delivery/dead-letters.js';
import type { Counters } from '../pipeline/counters.js';
import type { Health } from '../pipeline/health.js';
import type { PipelineLog } from '../pipeline/pipeline-log.js';
import type { Observation } from '../pipeline/pipeline-state.js';
import type { Suspension } from '../connector-api/suspension.js';

/** The parts of a pipeline that its worker observes. */
export interface ObserverParts {
  bus: Bus;
  /** Id of the input. */
  inputId: string | undefined;
  counters: Counters;
  health: Health;
  deadLetters: DeadLetters;
  log: PipelineLog;
  /** Returns why the pipeline is suspended. */
  suspension: () => Suspension | undefined;
}

/** Records of a pipeline that were not delivered to an output. */
export interface Losses {
  /** Dropped as the overflow policy of an output asks. A record counts once for each output. */
  dropped: number;
  /** Stored, and unreadable since. */
  lost: number;
}

/** Records that wait for one output. */
export interface Backlog {
  records: number;
  /** As stored. */
  bytes: number;
  /**
   * When the oldest of them was stored, in milliseconds since the epoch. Absent if there are none,
   * or if they can't be read.
   */
  oldestAt?: number;
}

/** What was known of an output's buffer at the last observation. */
interface Overflowing {
  dropping: boolean;
  dropped: number;
  /** `dropped` when the present episode began. */
  since: number;
}

/**
 * Observes a pipeline from inside its worker, and logs changes of the buffer since the last
 * observation.
 */
export class Observer {
  readonly #parts: ObserverParts;
  #stream: string | undefined;
  readonly #outputs = new Map<string, Overflowing>();
  #full = false;
  #noSpace = false;
  #lost = 0;
  /** Losses before this worker. */
  #before: Losses = { dropped: 0, lost: 0 };
  #total: Losses = { dropped: 0, lost: 0 };

  constructor(parts: ObserverParts) {
    this.#parts = parts;
  }

  /** The buffer was full at the last observation. */
  get full(): boolean {
    return this.#full;
  }

  /** Losses since `begin`, at the last observation. */
  get losses(): Losses {
    return {
      dropped: Math.max(0, this.#total.dropped - this.#before.dropped),
      lost: Math.max(0, this.#total.lost - this.#before.lost),
    };
  }

  /**
   * Takes the counts of the buffer as they were before this worker.
   * @param stream stream of the input, if its records are buffered
   */
  async begin(stream: string | undefined): Promise<void> {
    this.#stream = stream;
    if (stream === undefined) return;
    const stats = await this.#parts.bus.stats(stream);
    this.#before = this.#total = lossesIn(stats);
    for (const [id, { dropped }] of Object.entries(stats.consumers))
      this.#outputs.set(id, { dropping: false, dropped: dropped.records, since: dropped.records });
  }

  /** Returns what waits for each output. Empty if the records of the input are not buffered. */
  async backlogs(): Promise<Record<string, Backlog>> {
    const { bus } = this.#parts;
    const stream = this.#stream;
    if (stream === undefined) return {};
    const { consumers } = await bus.stats(stream);
    const backlogs = Object.entries(consumers).map(async ([id, { records, bytes }]) => {
      const oldestAt = await bus.oldestAt(stream, id).catch(() => undefined);
      return [id, { records, bytes, ...(oldestAt !== undefined && { oldestAt }) }] as const;
    });
    return Object.fromEntries(await Promise.all(backlogs));
  }

  async observe(working: boolean): Promise<Observation> {
    const { bus, counters, health, deadLetters } = this.#parts;
    const stats = this.#stream === undefined ? undefined : await bus.stats(this.#stream);
    if (stats) this.#logChanges(stats);
    const { lastError } = health;
    const suspension = this.#parts.suspension();
    // Unreadable dead letters must not stop the reports.
    const letters = Object.entries(await deadLetters.stats().catch(() => ({})));
    const dropped = Object.entries(stats?.consumers ?? {}).map(([id, each]) => [id, each.dropped.records]);
    return {
      working,
      full: this.#full,
      waiting: stats?.records ?? 0,
      nodes: health.facts,
      counts: counters.toJson(),
      deadLetters: Object.fromEntries(letters.map(([id, { count }]) => [id, count])),
      dropped: Object.fromEntries(dropped),
      ...(stats?.lost && { lost: stats.lost }),
      ...(lastError && { lastError }),
      ...(suspension && { suspension }),
    };
  }

  #logChanges(stats: StreamStats): void {
    const { log, inputId } = this.#parts;
    const { full, noSpace, lost } = stats;
    if (lost && lost.records > this.#lost)
      log.add({
        level: 'error',
        code: 'records_lost',
        message: lossMessage(lost),
        ...(inputId && { nodeId: inputId }),
      });
    if (full && !this.#full)
      log.add({ level: 'warn', code: 'buffer_full', message: 'buffer full; rejecting new records' });
    if (noSpace !== this.#noSpace)
      log.add(
        noSpace
          ? { level: 'error', code: 'disk_full', message: 'too little free disk space; rejecting new records' }
          : { level: 'info', code: 'disk_free', message: 'enough free disk space; accepting new records' },
      );
    for (const [id, each] of Object.entries(stats.consumers)) this.#logOverflow(id, each);
    this.#lost = lost?.records ?? 0;
    this.#full = full || noSpace;
    this.#noSpace = noSpace;
    this.#total = lossesIn(stats);
  }

  #logOverflow(nodeId: string, { dropping, dropped, maxBytes }: StreamStats['consumers'][string]): void {
    const { log } = this.#parts;
    const { records } = dropped;
    const known = this.#outputs.get(nodeId) ?? { dropping: false, dropped: records, since: records };
    const isNew = records > known.dropped;
    if (!known.dropping && (dropping || isNew)) {
      known.since = known.dropped;
      const message = `buffer of ${maxBytes} bytes full; dropping new records for this output`;
      log.add({ level: 'warn', code: 'output_overflow', message, nodeId });
    }
    if ((known.dropping || isNew) && !dropping) {
      const message = `buffer has space again; ${records - known.since} records were dropped for this output`;
      log.add({ level: 'warn', code: 'output_overflow_ended', message, nodeId });
    }
    this.#outputs.set(nodeId, { dropping, dropped: records, since: known.since });
  }
}

function lossesIn({ consumers, lost }: StreamStats): Losses {
  const dropped = Object.values(consumers).reduce((sum, each) => sum + each.dropped.records, 0);
  return { dropped, lost: lost?.records ?? 0 };
}

const lossMessage = ({ records, exact, since }: Lost): string =>
  `${exact ? '' : 'at least '}${records} stored records are lost: files of the buffer are missing or damaged (since ${new Date(since).toISOString()}). Send them again.`;
