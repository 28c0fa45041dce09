import { Worker } from 'node:worker_threads';
import { compiledJq } from './compiled-jq.js';
import type { JqAnswer, JqJob, JqLimits, JqRefusal, JqThreadData } from './protocol.js';

/** What became of a job: an answer, or the thread is gone, while it was at the record `at` (-1: before the first). */
type End =
  | { readonly kind: 'answer'; readonly answer: JqAnswer }
  | {
      readonly kind: 'gone';
      readonly at: number;
      readonly why: Extract<JqRefusal, `jq_${'timeout' | 'memory' | 'error'}`>;
    };
/** `ms`: how long the thread was busy with it. */
export type Ran = End & { readonly ms: number };

const MEBIBYTE = 1024 * 1024;
const LIMITS: JqLimits = {
  memory: 128 * MEBIBYTE,
  outputBytes: 4 * MEBIBYTE,
  outputs: 10_000,
  sliceBytes: 8 * MEBIBYTE,
};
/** How often is looked whether it is still at the same record, and how often it may be. */
const TICK_MS = 100;
const RECORD_TICKS = 10;
/** To begin, jq reads its own library and the program. */
const START_TICKS = 50;

/** A thread that runs jq, one job at a time. */
export class JqThread {
  /** `false`: of no more use. */
  alive = true;
  #settle: ((end: End) => void) | undefined;

  private constructor(
    private readonly worker: Worker,
    private readonly progress: Int32Array,
  ) {
    worker.on('message', (answer: JqAnswer) => this.#settle?.({ kind: 'answer', answer }));
    worker.on('error', (error) => {
      const full = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#gone(full ? 'jq_memory' : 'jq_error');
    });
    worker.on('exit', () => this.#gone('jq_error'));
  }

  /** Resolves once the thread is up. @throws Error when it can't be started */
  static async open(): Promise<JqThread> {
    const progress = new Int32Array(new SharedArrayBuffer(4));
    const workerData: JqThreadData = { module: await compiledJq(), progress, limits: LIMITS };
    const worker = new Worker(new URL('jq-worker.mjs', import.meta.url), {
      workerData,
      // It has no business with any of these.
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

  /** Never rejects. */
  async run(job: JqJob): Promise<Ran> {
    Atomics.store(this.progress, 0, -1);
    this.worker.ref();
    const began = performance.now();
    const end = await new Promise<End>((resolve) => {
      const ticking = this.#watch();
      this.#settle = (what) => {
        clearInterval(ticking);
        this.#settle = undefined;
        resolve(what);
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      this.worker.postMessage(job);
    });
    this.worker.unref();
    return { ...end, ms: performance.now() - began };
  }

  close(): void {
    void this.worker.terminate();
  }

  /** Counts looks and not time: where the whole machine stood still, the record is not to blame. */
  #watch(): NodeJS.Timeout {
    let before = -1;
    let same = 0;
    return setInterval(() => {
      const at = Atomics.load(this.progress, 0);
      same = at === before ? same + 1 : 0;
      before = at;
      if (same >= (at < 0 ? START_TICKS : RECORD_TICKS)) this.#gone('jq_timeout');
    }, TICK_MS);
  }

  #gone(why: Extract<End, { kind: 'gone' }>['why']): void {
    this.alive = false;
    this.#settle?.({ kind: 'gone', at: Atomics.load(this.progress, 0), why });
    this.close();
  }
}
