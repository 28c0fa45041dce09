import { randomUUID } from 'node:crypto';
import { BusError, ConnectorError, isRecord, type Clock, type JsonValue } from '@connector-frame/engine';
import type { Pool } from 'pg';
import type { Notifications } from '../../store/notifications.js';

export interface RequestsOptions {
  pool: Pool;
  notifications: Notifications;
  clock: Clock;
  /** Whether this process runs a pipeline. */
  runs: (pipelineId: string) => boolean;
  /** Responds to a request of another process. */
  respond: (pipelineId: string, method: string, parameters: JsonValue) => Promise<JsonValue>;
  onFailure: (error: unknown) => void;
}

const REQUESTS = 'connector_frame_requests';
const RESPONSES = 'connector_frame_responses';
/** Milliseconds to wait for a response, and between queries for a response whose notification was lost. */
const TIMEOUT_MS = 10_000;
const POLL_MS = 1_000;
/** Milliseconds after which a request has no reader anymore. */
const OLD_MS = 60_000;
/** Bytes of a response. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';

/**
 * Requests to the process that runs a pipeline, as rows with a notification. For what only that process
 * knows or can do.
 */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #waiting = new Map<string, () => void>();
  readonly #taken = new Set<string>();

  constructor(options: RequestsOptions) {
    this.#options = options;
    options.notifications.on(REQUESTS, (pipelineId) => this.#look(pipelineId));
    options.notifications.on(RESPONSES, (id) => {
      if (id !== undefined) this.#waiting.get(id)?.();
    });
  }

  /**
   * Sends a request, and returns the response.
   * @throws {ConnectorError} `not_running` if no process responds in time; what it has thrown
   */
  async send(pipelineId: string, method: string, parameters: JsonValue): Promise<JsonValue> {
    const { pool, notifications } = this.#options;
    const id = randomUUID();
    await pool.query(
      `insert into engine_requests (id, pipeline_id, method, parameters, created_at) values ($1, $2, $3, $4, ${NOW})`,
      [id, pipelineId, method, JSON.stringify(parameters)],
    );
    notifications.notify(REQUESTS, pipelineId);
    try {
      const deadline = performance.now() + TIMEOUT_MS;
      while (performance.now() < deadline) {
        await this.#response(id);
        const { rows } = await pool.query<{ response: string | null }>(
          'select response from engine_requests where id = $1',
          [id],
        );
        const text = rows[0]?.response;
        if (typeof text === 'string') return resultIn(JSON.parse(text));
        // The process that runs the pipeline may have changed.
        notifications.notify(REQUESTS, pipelineId);
      }
    } finally {
      await pool.query('delete from engine_requests where id = $1', [id]).catch(() => undefined);
    }
    throw new ConnectorError('not_running', 'The process that runs this pipeline did not respond.');
  }

  /** Deletes requests of processes that have ended. */
  async tidy(): Promise<void> {
    await this.#options.pool.query(`delete from engine_requests where created_at < ${NOW} - ${OLD_MS}`);
  }

  #response(id: string): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(done, POLL_MS);
      this.#waiting.set(id, done);
    });
  }

  #look(pipelineId: string | undefined): void {
    if (pipelineId !== undefined && !this.#options.runs(pipelineId)) return;
    this.#respondAll(pipelineId).catch((error: unknown) => this.#options.onFailure(error));
  }

  /** Responds to the requests for one pipeline, or for all that this process runs. */
  async #respondAll(pipelineId: string | undefined): Promise<void> {
    const { pool, notifications, runs } = this.#options;
    const { rows } = await pool.query<{ id: string; pipeline_id: string; method: string; parameters: string }>(
      `select id, pipeline_id, method, parameters from engine_requests
       where response is null and ($1::text is null or pipeline_id = $1) and created_at > ${NOW} - ${TIMEOUT_MS}
       order by created_at limit 100`,
      [pipelineId ?? null],
    );
    const open = rows.filter((row) => !this.#taken.has(row.id) && runs(row.pipeline_id));
    await Promise.all(
      open.map(async ({ id, pipeline_id, method, parameters }) => {
        this.#taken.add(id);
        try {
          const response = await this.#execute(pipeline_id, method, JSON.parse(parameters));
          await pool.query('update engine_requests set response = $2 where id = $1', [id, response]);
          notifications.notify(RESPONSES, id);
        } finally {
          // Not at once: a notification that is sent again must not execute it again.
          setTimeout(() => this.#taken.delete(id), OLD_MS).unref();
        }
      }),
    );
  }

  async #execute(pipelineId: string, method: string, parameters: JsonValue): Promise<string> {
    try {
      const text = JSON.stringify({ result: await this.#options.respond(pipelineId, method, parameters) });
      if (Buffer.byteLength(text) <= MAX_RESPONSE_BYTES) return text;
      return JSON.stringify({ code: 'too_large', message: 'The response is too large.' });
    } catch (error) {
      const code = error instanceof ConnectorError || error instanceof BusError ? error.code : 'failed';
      const message = error instanceof ConnectorError ? error.message : 'The request failed.';
      if (code === 'failed') this.#options.onFailure(error);
      return JSON.stringify({ code, message });
    }
  }
}

function resultIn(response: JsonValue): JsonValue {
  if (isRecord(response) && response['result'] !== undefined) return response['result'];
  const { code, message } = isRecord(response) ? response : {};
  throw new ConnectorError(
    typeof code === 'string' ? code : 'failed',
    typeof message === 'string' ? message : 'The request failed.',
  );
}
