import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import {
  ConnectorError,
  isRecord,
  type Clock,
  type Egress,
  type JsonValue,
} from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { SqlError, type SqlFailure } from '../_shared/sql/session.js';
import { SnowflakeBearer } from './bearer.js';
import type { SnowflakeTarget } from './config.js';

const PRODUCT = 'Snowflake';
/** Maximum bytes of one part of a result. */
const MAX_RESPONSE = 64 * 1024 * 1024;
/** Seconds after which Snowflake ends a statement. */
const TIMEOUT_S = 120;
const POLL_MS = 1_000;

/** Rows of texts or `null`. */
export type Rows = readonly (readonly (string | null)[])[];

/**
 * Meaning of Snowflake's error numbers.
 * https://docs.snowflake.com/en/user-guide/errors, and the messages of its drivers
 */
const numbers: Readonly<Record<string, SqlFailure>> = {
  '002003': 'no_table',
  '002043': 'no_database',
  '000904': 'no_column',
  '003001': 'forbidden',
  '000606': 'forbidden',
  '000630': 'timeout',
  '000604': 'timeout',
  '000625': 'conflict',
  '100072': 'missing_value',
  '100078': 'too_large',
};

/** Sends statements to the SQL API. https://docs.snowflake.com/en/developer-guide/sql-api */
export class SnowflakeClient {
  readonly #target: SnowflakeTarget;
  readonly #egress: Egress;
  readonly #clock: Clock;
  readonly #bearer: SnowflakeBearer;

  constructor(target: SnowflakeTarget, egress: Egress, clock: Clock) {
    this.#target = target;
    this.#egress = egress;
    this.#clock = clock;
    this.#bearer = new SnowflakeBearer(target.signIn, clock);
  }

  /**
   * Runs a statement, and yields the rows of its result part by part.
   *
   * @param bindings values of the placeholders `?`
   * @param id identifies the statement: it is not run again if it is sent again
   * @throws SqlError, ConnectorError
   */
  async *run(
    statement: string,
    bindings: readonly string[],
    signal: AbortSignal,
    id?: string,
  ): AsyncGenerator<Rows, void, undefined> {
    const { role, warehouse, database, schema } = this.#target;
    const body = JSON.stringify({
      statement,
      timeout: TIMEOUT_S,
      database,
      schema,
      ...(warehouse !== undefined && { warehouse }),
      ...(role !== undefined && { role }),
      bindings: Object.fromEntries(bindings.map((value, index) => [index + 1, { type: 'TEXT', value }])),
      parameters: { TIMEZONE: 'UTC', TIMESTAMP_OUTPUT_FORMAT: 'YYYY-MM-DD"T"HH24:MI:SS.FF9TZH:TZM' },
    });
    const query = id === undefined ? '' : `?requestId=${uuidOf(id)}&retry=true`;
    let response = await this.#send('POST', `/api/v2/statements${query}`, signal, body);
    for (; response.status === 202; response = await this.#send('GET', statusPath(response), signal)) {
      await this.#clock.sleep(POLL_MS, signal);
    }
    const first = parse(response);
    const handle = text(first, 'statementHandle') ?? '';
    const partitions = at(first, 'resultSetMetaData', 'partitionInfo');
    yield rowsOf(first);
    for (let part = 1; part < (Array.isArray(partitions) ? partitions.length : 0); part += 1) {
      const path = `/api/v2/statements/${encodeURIComponent(handle)}?partition=${part}`;
      yield rowsOf(parse(await this.#send('GET', path, signal)));
    }
  }

  /** Runs a statement and returns all rows of its result. */
  async rows(statement: string, bindings: readonly string[], signal: AbortSignal, id?: string): Promise<Rows> {
    const all: (readonly (string | null)[])[] = [];
    for await (const rows of this.run(statement, bindings, signal, id)) all.push(...rows);
    return all;
  }

  async #send(method: string, path: string, signal: AbortSignal, body?: string): Promise<HttpResponse> {
    const { origin } = this.#target;
    const headers = {
      ...(await this.#bearer.headers()),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await send(
      this.#egress,
      {
        url: `${origin}${path}`,
        method,
        headers,
        ...(body !== undefined && { body }),
        product: PRODUCT,
        maxBytes: MAX_RESPONSE,
      },
      signal,
    );
    if (response.status === 200 || response.status === 202) return response;
    throw this.#failureOf(response);
  }

  #failureOf(response: HttpResponse): Error {
    if (response.status === 401 && this.#target.signIn.kind === 'token') {
      return new ConnectorError(
        'invalid_credentials',
        'Snowflake did not accept the password. Its API takes a programmatic access token in its place, or a key pair.',
        'permanent',
      );
    }
    if (response.status !== 422) return statusFailure(response, PRODUCT, this.#clock.now());
    const body = safeParse(response.text);
    const [code, state] = [text(body, 'code') ?? '', text(body, 'sqlState') ?? ''];
    // Class 22: data exceptions.
    const failure = numbers[code] ?? (state.startsWith('22') || /^1000\d\d$/.test(code) ? 'invalid_value' : 'rejected');
    return new SqlError(failure, code);
  }
}

function statusPath(response: HttpResponse): string {
  const handle = text(safeParse(response.text), 'statementHandle');
  if (handle === undefined) throw unexpected(PRODUCT);
  return `/api/v2/statements/${encodeURIComponent(handle)}`;
}

function parse({ text: body, bytes }: HttpResponse): unknown {
  // Parts of a result are compressed even if that was not asked for.
  const isCompressed = bytes?.[0] === 0x1f && bytes[1] === 0x8b;
  const parsed = safeParse(isCompressed ? gunzipSync(bytes, { maxOutputLength: MAX_RESPONSE }).toString() : body);
  if (!isRecord(parsed) || !Array.isArray(parsed['data'])) throw unexpected(PRODUCT);
  return parsed;
}

function safeParse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function rowsOf(body: unknown): Rows {
  const rows = at(body, 'data');
  return (Array.isArray(rows) ? rows : []).map((row: unknown) =>
    (Array.isArray(row) ? row : []).map((cell: JsonValue) => (typeof cell === 'string' ? cell : null)),
  );
}

/** Derives a UUID (version 8 of RFC 9562) from a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
