import { isRecord, type JsonValue, type Purged, type RecordSample, type WaitingRecord } from '@connector-frame/engine';
import type { PipelineDelivery, PipelineSchemas } from '../engine.js';
import type { RunningPipeline } from '../running/running-pipeline.js';
import type { Requests } from './requests.js';

/** Milliseconds for which the process that runs a pipeline collects samples for one response. */
const SAMPLE_MS = 1_000;
const MAX_SAMPLES = 50;
const MAX_SAMPLE_BYTES = 512 * 1024;
/** Bytes of the records of a retry queue in one response. */
const MAX_WAITING_BYTES = 512 * 1024;

/** A pipeline that another process runs: its methods are requests to that process. */
export class RemotePipeline {
  readonly #id: string;
  readonly #requests: Requests;

  constructor(id: string, requests: Requests) {
    this.#id = id;
    this.#requests = requests;
  }

  /** @param deadLetters those in the database */
  delivery(deadLetters: PipelineDelivery['deadLetters']): PipelineDelivery {
    return {
      retryNow: async () => Number(await this.#send('retry_now')),
      trigger: async () => (await this.#send('trigger')) === true,
      waitingRecords: async (nodeId, limit) => waitingIn(await this.#send('waiting_records', { nodeId, limit })),
      purge: async (nodeId) => purgedIn(await this.#send('purge', nodeId === undefined ? {} : { nodeId })),
      deadLetters,
    };
  }

  readonly schemas: PipelineSchemas = {
    isRemote: true,
    // Stored schemas are a minute old at most.
    state: () => undefined,
    graduate: async (edgeId) => (await this.#send('graduate_schema', { edgeId })) === true,
    reset: async (edgeId) => (await this.#send('reset_schema', { edgeId })) === true,
  };

  /** Yields samples with a delay of up to a second. Ends when the process does not respond. */
  async *samples(nodeId: string, signal: AbortSignal): AsyncGenerator<RecordSample, void, void> {
    while (!signal.aborted) {
      const samples = await this.#send('samples', { nodeId }).catch(() => undefined);
      if (!Array.isArray(samples)) return;
      for (const each of samples.flatMap(sampleIn)) {
        if (signal.aborted) return;
        yield each;
      }
    }
  }

  #send(method: string, parameters: JsonValue = {}): Promise<JsonValue> {
    return this.#requests.send(this.#id, method, parameters);
  }
}

/** Responds to a request of another process. */
export async function respondFor(pipeline: RunningPipeline, method: string, parameters: JsonValue): Promise<JsonValue> {
  const { nodeId, edgeId, limit } = isRecord(parameters) ? parameters : {};
  const { delivery, schemas } = pipeline;
  const node = typeof nodeId === 'string' ? nodeId : undefined;
  const edge = typeof edgeId === 'string' ? edgeId : '';
  switch (method) {
    case 'retry_now':
      return (await delivery?.retryNow()) ?? 0;
    case 'trigger':
      return (await delivery?.trigger()) ?? false;
    case 'waiting_records':
      return bounded((await delivery?.waitingRecords(node ?? '', Number(limit))) ?? []);
    case 'purge': {
      const { records = 0, deadLetters = 0 } = (await delivery?.purge(node)) ?? {};
      return { records, deadLetters };
    }
    case 'graduate_schema':
      return (await schemas?.graduate(edge)) ?? false;
    case 'reset_schema':
      return (await schemas?.reset(edge)) ?? false;
    case 'samples':
      return collect(pipeline, node ?? '');
    default:
      return null;
  }
}

async function collect(pipeline: RunningPipeline, nodeId: string): Promise<JsonValue> {
  const samples: JsonValue[] = [];
  let bytes = 0;
  for await (const { at, line, bytes: size, skipped } of pipeline.samples(nodeId, AbortSignal.timeout(SAMPLE_MS))) {
    samples.push({ at, bytes: size, skipped, ...(line !== undefined && { line }) });
    bytes += line?.length ?? 0;
    if (samples.length >= MAX_SAMPLES || bytes > MAX_SAMPLE_BYTES) break;
  }
  return samples;
}

/** Leaves out the last records if they are too large together. */
function bounded(records: readonly WaitingRecord[]): JsonValue {
  let bytes = 0;
  return records.filter(({ line }) => (bytes += line.length) <= MAX_WAITING_BYTES).map((record) => ({ ...record }));
}

function waitingIn(value: JsonValue): WaitingRecord[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    if (!isRecord(each)) return [];
    const { line, since, failedAt, retryAt, attempts, error } = each;
    if (typeof line !== 'string' || typeof error !== 'string') return [];
    return [
      {
        line,
        error,
        since: Number(since),
        failedAt: Number(failedAt),
        retryAt: Number(retryAt),
        attempts: Number(attempts),
      },
    ];
  });
}

function purgedIn(value: JsonValue): Purged {
  const { records, deadLetters } = isRecord(value) ? value : {};
  return { records: Number(records ?? 0), deadLetters: Number(deadLetters ?? 0) };
}

function sampleIn(value: JsonValue): RecordSample[] {
  if (!isRecord(value)) return [];
  const { at, line, bytes, skipped } = value;
  return [
    { at: Number(at), bytes: Number(bytes), skipped: Number(skipped), ...(typeof line === 'string' && { line }) },
  ];
}
