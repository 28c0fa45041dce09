import type { JsonValue } from '../connector-api/record.js';
import { waitBeforeRetry } from './deliver.js';
import { failureOf } from '../connector-api/index.js';
import type { PagesRun } from './run-pages.js';

/** The cursor of one run: opened once, committed after each page. */
export class RunCursor {
  readonly #run: PagesRun;
  value: JsonValue | undefined;
  #version = 0;

  constructor(run: PagesRun) {
    this.#run = run;
  }

  async open(): Promise<boolean> {
    const { coordinator, lease } = this.#run;
    const cursor = await this.#retry(() => coordinator.openCursor(lease, this.#key));
    if (!cursor) return false;
    this.value = cursor.value;
    this.#version = cursor.version;
    return true;
  }

  async commit(cursor: JsonValue, records: number): Promise<'ok' | 'stopped' | 'fenced'> {
    const { coordinator, lease } = this.#run;
    if (records > 0 || JSON.stringify(cursor) !== JSON.stringify(this.value)) {
      const committed = await this.#retry(() => coordinator.commitCursor(lease, this.#key, this.#version, cursor));
      if (!committed) return 'stopped';
      if (!committed.ok) return 'fenced';
      this.value = cursor;
      this.#version = committed.version;
    }
    return 'ok';
  }

  get #key(): string {
    return `${this.#run.pipelineId}/${this.#run.nodeId}`;
  }

  /**
   * Retries a coordinator call until it succeeds: if the cursor of a delivered page were not
   * committed, the page would be delivered twice. Returns `undefined` when the run is stopping.
   */
  async #retry<T>(call: () => Promise<T>): Promise<T | undefined> {
    const { context, nodeId } = this.#run;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const failure = { ...failureOf(error), code: 'coordinator', message: 'cursor commit failed' };
        if (!(await waitBeforeRetry(context, nodeId, failure, attempt))) return undefined;
      }
    }
  }
}
