import type { PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import type { PollClient } from './client.js';
import { holds } from './condition.js';
import { PollError } from './poll-error.js';
import type { StreamState } from './state.js';
import type { Values } from './template.js';

/** Statuses of a record that the vendor no longer has. */
const GONE = [404, 410];
/** Maximum number of IDs to keep while the vendor accepts none. The oldest are dropped. */
const MAX_PENDING = 5_000;

/** Records of a stream that are stored and not acknowledged yet. */
export class Acknowledgements {
  /** Why the vendor did not accept an acknowledgement. */
  failure: PollError | undefined;
  #pending: readonly string[];
  readonly #stream: PollStream;
  readonly #client: PollClient;
  readonly #values: Values;

  constructor(stream: PollStream, client: PollClient, values: Values, { pending = [] }: StreamState = {}) {
    this.#stream = stream;
    this.#client = client;
    this.#values = values;
    this.#pending = this.#request ? pending : [];
  }

  get isOn(): boolean {
    return this.#request !== undefined;
  }

  /** The IDs of records that are stored with this state. */
  get state(): Pick<StreamState, 'pending'> {
    return this.#pending.length === 0 ? {} : { pending: this.#pending };
  }

  add(records: readonly DataRecord[]): void {
    const { id } = this.#stream.records;
    if (!this.#request || typeof id !== 'string') return;
    const ids = records.flatMap((record) => {
      const value: unknown = getAt(record, id);
      return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
    });
    this.#pending = [...new Set([...this.#pending, ...ids])].slice(-MAX_PENDING);
  }

  /**
   * Acknowledges each record, up to the first failure. What is left is tried again with the
   * next poll: records are read in any case.
   *
   * @returns whether the state has changed
   */
  async send(signal: AbortSignal): Promise<boolean> {
    const request = this.#request;
    if (!request || this.failure) return false;
    const before = this.#pending.length;
    for (const id of this.#pending) {
      try {
        await this.#client.send(this.#client.request(request, { ...this.#values, id }), signal);
      } catch (error) {
        if (!(error instanceof PollError)) throw error;
        if (!GONE.includes(error.status ?? 0)) {
          this.failure = error;
          break;
        }
      }
      this.#pending = this.#pending.slice(1);
    }
    return this.#pending.length < before;
  }

  get #request(): PollStream['acknowledge'] {
    const { acknowledge } = this.#stream;
    return acknowledge && holds(acknowledge.when, this.#client.values) ? acknowledge : undefined;
  }
}
