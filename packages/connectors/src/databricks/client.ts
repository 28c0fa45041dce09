import {
  ConnectorError,
  isRecord,
  type Clock,
  type Egress,
  type JsonValue,
  type TesterConfig,
} from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

const PRODUCT = 'Databricks';
/** Results are limited to 25 MiB. */
const MAX_RESPONSE = 32 * 1024 * 1024;
const POLL_MS = 1_000;
/** A stopped warehouse takes minutes to start. */
const STATEMENT_MS = 10 * 60_000;

export interface DatabricksTarget {
  /** Host name of the workspace. */
  host: string;
  clientId: string;
  clientSecret: string;
}

/** Parses the fields that all Databricks types have. */
export function readDatabricks({ settings, secrets }: TesterConfig): DatabricksTarget {
  return {
    host: text(settings, 'server_hostname') ?? '',
    clientId: text(secrets, 'client_id') ?? '',
    clientSecret: text(secrets, 'client_secret') ?? '',
  };
}

/** A request for a token, if it is not one for all of the workspace's API. */
export interface TokenScope {
  resource: string;
  authorization_details: string;
}

interface Request {
  method: string;
  url: string;
  body?: string;
  contentType?: string;
  scope?: TokenScope;
}

/** Named parameters of a statement. */
export interface Parameter {
  name: string;
  value: string;
  type: 'STRING' | 'BIGINT';
}

/** Rows of texts or `null`. */
export type Rows = readonly (readonly (string | null)[])[];

/** Sends requests to a workspace. https://docs.databricks.com/api/workspace/introduction */
export class DatabricksClient {
  readonly #target: DatabricksTarget;
  readonly #egress: Egress;
  readonly #clock: Clock;
  #token: { value: string; until: number } | undefined;

  constructor(target: DatabricksTarget, egress: Egress, clock: Clock) {
    this.#target = target;
    this.#egress = egress;
    this.#clock = clock;
  }

  /** @throws ConnectorError unless the status is 2xx */
  async send(request: Request, signal: AbortSignal): Promise<HttpResponse> {
    let response = await this.#attempt(request, signal);
    if (response.status === 401) {
      // A token may be revoked before it expires.
      this.#token = undefined;
      response = await this.#attempt(request, signal);
    }
    if (response.status >= 200 && response.status < 300) return response;
    throw statusFailure(response, PRODUCT, this.#clock.now());
  }

  /**
   * Runs a statement in a SQL warehouse and returns its rows.
   * https://docs.databricks.com/api/workspace/statementexecution
   *
   * @param httpPath path of the warehouse: `/sql/1.0/warehouses/0a1b2c`
   * @throws ConnectorError
   */
  async statement(
    httpPath: string,
    statement: string,
    parameters: readonly Parameter[],
    signal: AbortSignal,
  ): Promise<Rows> {
    const base = `https://${this.#target.host}/api/2.0/sql/statements`;
    const body = JSON.stringify({
      statement,
      warehouse_id: httpPath.split('/').at(-1),
      wait_timeout: '30s',
      on_wait_timeout: 'CONTINUE',
      format: 'JSON_ARRAY',
      disposition: 'INLINE',
      parameters,
    });
    let result = await this.json({ method: 'POST', url: base, body, contentType: 'application/json' }, signal);
    const until = this.#clock.now() + STATEMENT_MS;
    const id = encodeURIComponent(text(result, 'statement_id') ?? '');
    for (
      ;
      ['PENDING', 'RUNNING'].includes(stateOf(result));
      result = await this.json({ method: 'GET', url: `${base}/${id}` }, signal)
    ) {
      if (this.#clock.now() > until)
        throw new ConnectorError('timeout', 'The SQL warehouse took too long for one statement.', 'retry');
      await this.#clock.sleep(POLL_MS, signal);
    }
    if (stateOf(result) !== 'SUCCEEDED') throw failureOf(result);
    const rows = [...rowsOf(at(result, 'result'))];
    for (let next = at(result, 'result', 'next_chunk_index'); typeof next === 'number';) {
      const chunk = await this.json({ method: 'GET', url: `${base}/${id}/result/chunks/${next}` }, signal);
      rows.push(...rowsOf(chunk));
      const following = at(chunk, 'next_chunk_index');
      next = typeof following === 'number' && following > next ? following : undefined;
    }
    return rows;
  }

  async json(request: Request, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { text: body } = await this.send(request, signal);
    try {
      const parsed: unknown = JSON.parse(body);
      if (isRecord(parsed)) return parsed;
    } catch {
      // A page of an intermediary.
    }
    throw unexpected(PRODUCT);
  }

  async #attempt({ method, url, body, contentType, scope }: Request, signal: AbortSignal): Promise<HttpResponse> {
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${await this.#bearer(scope, signal)}`,
      ...(contentType !== undefined && { 'content-type': contentType }),
    };
    const init = {
      url,
      method,
      headers,
      ...(body !== undefined && { body }),
      product: PRODUCT,
      maxBytes: MAX_RESPONSE,
    };
    return send(this.#egress, init, signal);
  }

  /** https://docs.databricks.com/en/dev-tools/auth/oauth-m2m.html */
  async #bearer(scope: TokenScope | undefined, signal: AbortSignal): Promise<string> {
    const now = this.#clock.now();
    if (this.#token && this.#token.until > now) return this.#token.value;
    const { host, clientId, clientSecret } = this.#target;
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'all-apis', ...scope }).toString();
    const response = await send(
      this.#egress,
      {
        url: `https://${host}/oidc/v1/token`,
        headers: {
          accept: 'application/json',
          authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body,
        product: PRODUCT,
      },
      signal,
    );
    if (response.status === 400 || response.status === 401) {
      const message = 'Databricks did not accept the client ID and secret.';
      throw new ConnectorError('invalid_credentials', message, 'permanent');
    }
    if (response.status !== 200) throw statusFailure(response, PRODUCT, now);
    const parsed = parse(response.text);
    const value = text(parsed, 'access_token');
    if (value === undefined) throw unexpected(PRODUCT);
    const seconds = Number(at(parsed, 'expires_in') ?? 3_600);
    this.#token = { value, until: now + Math.max(0, seconds - 60) * 1_000 };
    return value;
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

const stateOf = (result: unknown): string => text(result, 'status', 'state') ?? '';

function rowsOf(result: unknown): Rows {
  const rows = at(result, 'data_array');
  return (Array.isArray(rows) ? rows : []).map((row: unknown) =>
    (Array.isArray(row) ? row : []).map((cell: JsonValue) => (typeof cell === 'string' ? cell : null)),
  );
}

/** https://docs.databricks.com/en/error-messages/error-classes.html */
function failureOf(result: unknown): ConnectorError {
  const message = text(result, 'status', 'error', 'message') ?? '';
  const [, name = ''] = /^\[([A-Z_.]+)\]/.exec(message) ?? [];
  const code = text(result, 'status', 'error', 'error_code') ?? '';
  if (/^(?:TABLE_OR_VIEW|SCHEMA|CATALOG)_NOT_FOUND|_DOES_NOT_EXIST/.test(name) || code === 'NOT_FOUND')
    return new ConnectorError('not_found', 'The catalog, schema or table does not exist.', 'permanent');
  if (/INSUFFICIENT_PERMISSIONS|PERMISSION_DENIED/.test(`${name} ${code} ${message}`))
    return new ConnectorError('forbidden', 'This service principal may not do that in Databricks.', 'permanent');
  if (/TEMPORARILY_UNAVAILABLE|INTERNAL_ERROR|RESOURCE_EXHAUSTED|DEADLINE|CONCURRENT/.test(`${code} ${name}`))
    return new ConnectorError('upstream_error', 'Databricks could not run the statement at this time.', 'retry');
  return new ConnectorError('rejected', 'Databricks refused the statement.', 'permanent');
}
