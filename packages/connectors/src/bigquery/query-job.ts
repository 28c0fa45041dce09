import type { Clock, DataRecord, Egress, TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiClient, type ApiClient } from '../_shared/api/api-client.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { statusFailure, unexpected } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { serviceAccount } from '../google/service-account.js';
import { readColumns, toRecord, type Column } from './rows.js';

const ORIGIN = 'https://bigquery.googleapis.com';
const KEY = '/secrets/credentials_json';
/** Rows of one page. A response has at most about 10 MB, whatever this is. */
const PAGE_SIZE = 1_000;
const MAX_RESPONSE = 64 * 1024 * 1024;
/** Milliseconds that BigQuery waits for the end of a query before it responds. */
const WAIT_MS = 20_000;

/** Where to continue in the results of a query. BigQuery keeps them for about a day. */
export interface ResultPosition {
  job: string;
  location: string | undefined;
  /** Absent: the first page. */
  token?: string | undefined;
}

export interface ResultPage {
  columns: readonly Column[];
  records: readonly DataRecord[];
  /** Absent: this is the last page. */
  next?: ResultPosition;
}

/** A named parameter of a query. */
export interface QueryParameter {
  name: string;
  type: string;
  value: string;
}

/**
 * Runs queries in a project.
 * https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query
 */
export class BigQuery {
  readonly #client: ApiClient;
  readonly #url: string;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(config: TesterConfig, egress: Egress, clock: Clock) {
    const project = text(config.settings, 'project');
    if (project === undefined) throw toConnectorError(missing('/settings/project', 'Enter the project ID.'));
    this.#url = `${ORIGIN}/bigquery/v2/projects/${encodeURIComponent(project)}/queries`;
    // BigQuery has no narrower scope that may start queries.
    this.#client = createApiClient(serviceAccount(KEY, ['https://www.googleapis.com/auth/bigquery']), config, {
      subject: { product: 'BigQuery', credential: KEY },
      egress,
      clock,
      base: new URL(ORIGIN),
    });
  }

  /** Starts a query and returns its first page. */
  async query(sql: string, parameters: readonly QueryParameter[], signal: AbortSignal): Promise<ResultPage> {
    const body = await this.#start(sql, parameters, {}, signal);
    const job = text(body, 'jobReference', 'jobId');
    if (job === undefined) throw toConnectorError(unexpected(this.#client.subject));
    return this.#page({ job, location: text(body, 'jobReference', 'location') }, body, signal);
  }

  /** Checks a query without running it. */
  async check(sql: string, parameters: readonly QueryParameter[], signal: AbortSignal): Promise<void> {
    const body = await this.#start(sql, parameters, { dryRun: true }, signal);
    if (at(body, 'kind') !== 'bigquery#queryResponse') throw toConnectorError(unexpected(this.#client.subject));
  }

  /** Returns a page of the results of a query. @throws ApiError `not_found`: they have expired */
  async results(position: ResultPosition, signal: AbortSignal): Promise<ResultPage> {
    return this.#page(position, await this.#results(position, signal), signal);
  }

  #start(sql: string, parameters: readonly QueryParameter[], more: object, signal: AbortSignal): Promise<unknown> {
    const body = {
      query: sql,
      useLegacySql: false,
      maxResults: PAGE_SIZE,
      timeoutMs: WAIT_MS,
      formatOptions: { useInt64Timestamp: true },
      ...(parameters.length > 0 && {
        parameterMode: 'NAMED',
        queryParameters: parameters.map(({ name, type, value }) => ({
          name,
          parameterType: { type },
          parameterValue: { value },
        })),
      }),
      ...more,
    };
    return this.#client.json({ url: new URL(this.#url), body }, this.#options(signal), explain);
  }

  #results({ job, location, token }: ResultPosition, signal: AbortSignal): Promise<unknown> {
    const url = new URL(`${this.#url}/${encodeURIComponent(job)}`);
    if (location !== undefined) url.searchParams.set('location', location);
    url.searchParams.set('maxResults', String(PAGE_SIZE));
    url.searchParams.set('timeoutMs', String(WAIT_MS));
    url.searchParams.set('formatOptions.useInt64Timestamp', 'true');
    if (token !== undefined) url.searchParams.set('pageToken', token);
    return this.#client.json({ url }, this.#options(signal), explain);
  }

  /** Waits for the end of the query, and parses a page. */
  async #page(position: ResultPosition, first: unknown, signal: AbortSignal): Promise<ResultPage> {
    let body = first;
    while (at(body, 'jobComplete') === false) {
      signal.throwIfAborted();
      body = await this.#results(position, signal);
    }
    const columns = readColumns(at(body, 'schema', 'fields'));
    const rows = at(body, 'rows') ?? [];
    if (at(body, 'jobComplete') !== true || !columns || !Array.isArray(rows))
      throw toConnectorError(unexpected(this.#client.subject));
    const token = text(body, 'pageToken');
    return {
      columns,
      records: rows.map((row: unknown) => toRecord(columns, row)),
      ...(token !== undefined && { next: { ...position, token } }),
    };
  }

  #options(signal: AbortSignal) {
    return { signal, maxBytes: MAX_RESPONSE, timeoutMs: 3 * WAIT_MS, repeatable: true };
  }
}

/** https://cloud.google.com/bigquery/docs/error-messages */
function explain(status: number, body: unknown): Failure | undefined {
  const errors = at(body, 'error', 'errors');
  const reason = Array.isArray(errors) ? text(errors[0], 'reason') : undefined;
  switch (reason) {
    case 'rateLimitExceeded':
    case 'quotaExceeded':
    case 'jobRateLimitExceeded':
      return statusFailure(429, { product: 'BigQuery' });
    case 'invalidQuery':
      return failed('rejected', 'BigQuery does not accept the query.', {
        hint: 'Try it in the BigQuery console. It must return the timestamp column, if there is one.',
        at: ['/settings/query', '/settings/timestamp_column'],
      });
    case 'notFound':
      return failed('not_found', 'There is no such project, dataset or table.', {
        at: ['/settings/dataset', '/settings/table'],
      });
    case 'accessDenied':
      return failed('forbidden', 'The service account may not query the table.', {
        hint: 'It needs the roles BigQuery Data Viewer and BigQuery Job User.',
        at: KEY,
      });
    default:
      return status === 404
        ? failed('not_found', 'There is no such project, dataset or table.', { at: '/settings/project' })
        : undefined;
  }
}
