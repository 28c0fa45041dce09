import { Worker } from 'node:worker_threads';
import { compiledJq } from './compiled-jq.js';
import type { JqResponse, JqJob, JqLimits, JqRejection, JqThreadData } from './protocol.js';

/**
 * Result of a job: an answer, or the thread died while processing the record `at` (-1: before the
 * first).
 */
type Outcome =
  | { readonly kind: 'response'; readonly response: JqResponse }
  | {
      readonly kind: 'failed';
      readonly at: number;
      readonly reason: Extract<JqRejection, `jq_${'timeout' | 'memory' | 'error'}`>;
    };
/** `ms`: milliseconds that the thread was busy with the job. */
export type Ran = Outcome & { readonly ms: number };

const MEBIBYTE = 1024 * 1024;
const LIMITS: JqLimits = {
  memory: 128 * MEBIBYTE,
  outputBytes: 4 * MEBIBYTE,
  outputs: 10_000,
  sliceBytes: 8 * MEBIBYTE,
};
/**
 * Interval of the progress check in milliseconds, and the number of checks for which a record may
 * make no progress.
 */
const TICK_MS = 100;
const RECORD_TICKS = 10;
/** Number of checks allowed for startup, when jq parses its own library and the program. */
const START_TICKS = 50;

/** A worker thread that runs jq, one job at a time. */
export class JqThread {
  readonly #worker: Worker;
  readonly #progress: Int32Array;
  /** `false` once the thread can't be used anymore. */
  alive = true;
  #settle: ((end: Outcome) => void) | undefined;

  private constructor(worker: Worker, progress: Int32Array) {
    this.#worker = worker;
    this.#progress = progress;
    worker.on('message', (response: JqResponse) => this.#settle?.({ kind: 'response', response }));
    worker.on('error', (error) => {
      const full = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#fail(full ? 'jq_memory' : 'jq_error');
    });
    worker.on('exit', () => this.#fail('jq_error'));
  }

  /**
   * Starts a thread; resolves once it is ready.
   * @throws {Error} if it can't be started
   */
  static async open(): Promise<JqThread> {
    const progress = new Int32Array(new SharedArrayBuffer(4));
    const workerData: JqThreadData = { module: await compiledJq(), progress, limits: LIMITS };
    const worker = new Worker(new URL('jq-worker.mjs', import.meta.url), {
      workerData,
      // The thread needs none of these.
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 },
    });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The thread for jq ended at once.')));
    });
    return new JqThread(worker, progress);
  }

  /** Runs a job; never rejects. */
  async run(job: JqJob): Promise<Ran> {
    Atomics.store(this.#progress, 0, -1);
    this.#worker.ref();
    const began = performance.now();
    const end = await new Promise<Outcome>((resolve) => {
      const timer = this.#watch();
      this.#settle = (outcome) => {
        clearInterval(timer);
        this.#settle = undefined;
        resolve(outcome);
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      this.#worker.postMessage(job);
    });
    this.#worker.unref();
    return { ...end, ms: performance.now() - began };
  }

  close(): void {
    void this.#worker.terminate();
  }

  /**
   * Counts checks instead of elapsed time, so that a stall of the whole machine is not attributed
   * to the record.
   */
  #watch(): NodeJS.Timeout {
    let before = -1;
    let same = 0;
    return setInterval(() => {
      const at = Atomics.load(this.#progress, 0);
      same = at === before ? same + 1 : 0;
      before = at;
      if (same >= (at < 0 ? START_TICKS : RECORD_TICKS)) this.#fail('jq_timeout');
    }, TICK_MS);
  }

  #fail(reason: Extract<Outcome, { kind: 'failed' }>['reason']): void {
    this.alive = false;
    this.#settle?.({ kind: 'failed', at: Atomics.load(this.#progress, 0), reason });
    this.close();
  }
}
