import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '@connector-frame/engine';
import type { Receiver } from './receiver.js';
import type { Call } from './service-child.js';

/** A client of the service under test. It remembers what the service acknowledged. */
export class Customer {
  org = '';
  input = '';
  /** Input of the integrations that are built and removed. */
  #other = '';
  pipelines = { http: '', file: '', paged: '' };
  readonly acknowledged: number[] = [];
  readonly built = new Map<string, string>();
  #ingest = { url: '', token: '' };
  #next = 0;

  async setUp(call: Call, receiver: Receiver): Promise<void> {
    const must = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const response = await call(method, path, body);
      if (!response) throw new Error(`${method} ${path} was refused.`);
      return response;
    };
    this.org = String((await must('GET', '/v3/api-keys/current'))['organization_id']);
    const make = async (type: string, settings: object): Promise<string> =>
      String((await must('POST', `/v2/${this.org}/inputs`, { name: type, type, config: { settings } }))['id']);
    const build = async (input_id: string, type: string, settings: object): Promise<string> => {
      const body = { input_id, name: type, output: { type, config: { settings } } };
      return String((await must('POST', `/v2/${this.org}/integrations`, body))['pipeline_id']);
    };
    const http = (path: string) => ({ endpoint: receiver.origin + path, method: 'POST', payload_structure: 'array' });
    const pushed = await make('monad-http', {});
    const made = await make('demo', { record_type: 'okta-systemlog', rate: 100 });
    this.pipelines = {
      http: await build(pushed, 'http', http('/pushed')),
      file: await build(pushed, 'file', { file_name: 'pushed.ndjson' }),
      paged: await build(made, 'http', http('/paged')),
    };
    const { ingest } = await must('GET', `/v1/${this.org}/inputs/${pushed}`);
    const { url, token } = isRecord(ingest) ? ingest : {};
    if (typeof url !== 'string' || typeof token !== 'string') throw new Error('The input has no address.');
    this.#ingest = { url: new URL(url).pathname, token };
    this.#other = await make('monad-http', {});
    this.input = pushed;
  }

  /** Sends records, and builds and removes integrations, until `stop` is called. */
  work(call: Call, url: string): { stop(): Promise<void> } {
    const over = new AbortController();
    const goOn = async (turn: () => Promise<boolean>): Promise<void> => {
      while (!over.signal.aborted) if (!(await turn())) await sleep(5);
    };
    const done = Promise.all([
      goOn(() => this.#send(url)),
      goOn(() => this.#send(url)),
      goOn(() => this.#send(url)),
      goOn(() => this.#buildAndRemove(call)),
    ]);
    return {
      async stop() {
        over.abort();
        await done;
      },
    };
  }

  /** Sends each record once. Records that were not acknowledged may or may not be stored. */
  async #send(url: string): Promise<boolean> {
    const numbers = Array.from({ length: 1 + (this.#next % 40) }, () => this.#next++);
    try {
      const response = await fetch(url + this.#ingest.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#ingest.token}`, 'content-type': 'application/x-ndjson' },
        body: numbers.map((n) => JSON.stringify({ n })).join('\n'),
      });
      await response.arrayBuffer();
      if (response.ok) this.acknowledged.push(...numbers);
      return response.ok;
    } catch {
      return false;
    }
  }

  async #buildAndRemove(call: Call): Promise<boolean> {
    const { org } = this;
    const made = await call('POST', `/v2/${org}/integrations`, { input_id: this.#other, name: 'Short' });
    if (!made) return false;
    const [pipeline, output] = [String(made['pipeline_id']), String(made['output_id'])];
    if (this.built.size < 3 && Math.random() < 0.3) this.built.set(pipeline, output);
    else {
      const body = { pipeline_id: pipeline, output_id: output, cleanup: { pipeline: true, output: true } };
      await call('POST', `/v2/${org}/integrations/delete`, body);
    }
    return true;
  }
}
