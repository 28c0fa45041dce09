import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { ConnectorError, type Batch, type ConnectorContext, type Output } from '@connector-frame/engine/connector-api';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { readTls, type TlsOptions } from '../_shared/delivery/tls.js';
import { at, text } from '../_shared/read.js';

const PRODUCT = 'Databend';
const compress = promisify(gzip);

/** A server, and how to sign in. */
export interface DatabendTarget {
  origin: string;
  database: string;
  authorization: string | undefined;
  tls: TlsOptions;
}

/** @throws ConnectorError `invalid_config` */
export function readDatabend(config: ConnectorConfig): DatabendTarget {
  const { settings, secrets } = config;
  const endpoint = text(settings, 'endpoint') ?? '';
  const [, scheme = '', rest = ''] = /^(databend|databend\+https?|https?):\/\/(.+)$/.exec(endpoint) ?? [];
  const protocol = scheme === 'http' || scheme === 'databend+http' ? 'http' : 'https';
  if (!URL.canParse(`${protocol}://${rest}`)) throw invalidConfig('This is not a valid address.');
  const url = new URL(`${protocol}://${rest}`);
  // As in the connection strings of Databend's own clients.
  if (url.searchParams.get('sslmode') === 'disable') url.protocol = 'http:';
  return {
    origin: url.origin,
    database: text(settings, 'database') ?? (decodeURIComponent(url.pathname.slice(1)) || 'default'),
    authorization: readAuthorization(settings, secrets),
    tls: readTls({ group: '/settings/tls' }, config),
  };
}

function readAuthorization(settings: Record<string, unknown>, secrets: Record<string, unknown>): string | undefined {
  if (text(settings, 'auth', 'strategy') === 'bearer') return `Bearer ${text(secrets, 'token') ?? ''}`;
  const user = text(settings, 'auth', 'basic', 'user');
  if (user === undefined) return undefined;
  return `Basic ${Buffer.from(`${user}:${text(secrets, 'password') ?? ''}`).toString('base64')}`;
}

/**
 * Loads batches by streaming load: fields go to the columns of their names.
 * https://docs.databend.com/guides/load-data/load/http-streaming-load
 */
export function createDatabendOutput(config: ConnectorConfig, { egress, clock }: ConnectorContext): Output {
  const { settings } = config;
  const target = readDatabend(config);
  const isCompressed = text(settings, 'compression') === 'gzip';
  const statement = insertStatement(target.database, text(settings, 'table') ?? '', {
    missing: text(settings, 'missing_field_as') ?? 'NULL',
    isCompressed,
  });

  async function load(batch: Batch, signal: AbortSignal): Promise<PartResult> {
    const lines = Buffer.from(`${batch.lines.join('\n')}\n`);
    const boundary = `connector-frame-${batch.id}`;
    const file = isCompressed ? await compress(lines) : lines;
    const response = await send(
      egress,
      {
        url: `${target.origin}/v1/streaming_load`,
        method: 'PUT',
        headers: {
          ...headersOf(target),
          'content-type': `multipart/form-data; boundary=${boundary}`,
          // A load with a label that succeeded before is left out.
          'x-databend-sql': statement.replace('INSERT', `INSERT /*+ set_var(deduplicate_label='${batch.id}') */`),
        },
        body: formOf(boundary, isCompressed ? 'records.ndjson.gz' : 'records.ndjson', file),
        product: PRODUCT,
        ...target.tls,
      },
      signal,
    );
    return outcomeOf(response, clock.now());
  }

  return {
    batching: { records: 50_000, bytes: 10_000_000, waitMs: 1_000, waitFrom: 'write' },
    ordering: 'none',
    maxConcurrency: 4,
    write: (batch, signal) => writeParts([batch.lines.map((_line, index) => index)], () => load(batch, signal)),
  };
}

/** Headers of every request. */
export const headersOf = ({ authorization }: DatabendTarget): Record<string, string> => ({
  accept: 'application/json',
  ...(authorization !== undefined && { authorization }),
});

/**
 * Returns the statement of a load. It is sent in a header, so that names with other characters than those
 * of ASCII can't be used.
 *
 * @throws ConnectorError `invalid_config`
 */
function insertStatement(
  database: string,
  table: string,
  { missing, isCompressed }: { missing: string; isCompressed: boolean },
): string {
  const names = [database, table];
  if (names.some((name) => !/^[ -~]+$/.test(name) || /[`\\]/.test(name)))
    throw invalidConfig('The names of the database and table may only have ASCII characters, and no backticks.');
  if (names.some((name) => name.includes('{{')))
    throw invalidConfig('The database and the table are names here, without fields of records.');
  const options = ['TYPE = NDJSON', `MISSING_FIELD_AS = ${/^[A-Z_]+$/.test(missing) ? missing : 'NULL'}`];
  if (isCompressed) options.push('COMPRESSION = GZIP');
  const into = names.map((name) => `\`${name}\``).join('.');
  return `INSERT INTO ${into} FROM @_databend_load FILE_FORMAT = (${options.join(' ')})`;
}

function formOf(boundary: string, name: string, file: Buffer): Buffer {
  const head = [
    `--${boundary}`,
    `content-disposition: form-data; name="upload"; filename="${name}"`,
    'content-type: application/octet-stream',
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** Error codes: https://github.com/databendlabs/databend/blob/main/src/common/exception/src/exception_code.rs */
function outcomeOf(response: HttpResponse, now: number): PartResult {
  const body = parse(response.text);
  if (response.status === 200 && (at(body, 'stats') !== undefined || text(body, 'state') === 'SUCCESS')) return {};
  const error = at(body, 'error');
  const code = Number(at(error, 'code') ?? 0);
  // UnknownDatabase and UnknownTable.
  if (code === 1003 || code === 1025)
    throw new ConnectorError('not_found', 'The database or table does not exist in Databend.', 'permanent');
  // PermissionDenied.
  if (code === 1063)
    throw new ConnectorError('forbidden', 'This user may not insert into the table in Databend.', 'permanent');
  if (response.status === 200 && error === undefined) throw unexpected(PRODUCT);
  if ([200, 400, 422].includes(response.status)) return { partRejection: 'invalid_value' };
  throw statusFailure(response, PRODUCT, now);
}

export function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
