import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type Batch, encodeLines, isRecord, isSendable } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';

type Row = readonly [name: string, value: string];

/** Request parameters from the connector's configuration. */
export interface HttpRequest {
  endpoint: string | undefined;
  method: string;
  /** Headers from the settings, then those from the secrets, which take precedence. */
  headers: { open: readonly Row[]; secret: readonly Row[] };
  structure: 'array' | 'wrapped' | 'single';
  /** Key of the array in a wrapped body. */
  wrapperKey: string;
  verifyTls: boolean;
}

export function readRequest({ settings, secrets }: Pick<ConnectorConfig, 'settings' | 'secrets'>): HttpRequest {
  const structure = at(settings, 'payload_structure');
  return {
    endpoint: text(settings, 'endpoint'),
    method: text(settings, 'method') ?? 'POST',
    headers: { open: openHeaders(settings), secret: secretHeaders(secrets) },
    structure: structure === 'array' || structure === 'wrapped' ? structure : 'single',
    wrapperKey: text(settings, 'wrapper_key') ?? 'records',
    verifyTls: at(settings, 'tls_skip_verify') !== true,
  };
}

/** Returns the request headers, or the source of the first header that HTTP can't carry. */
export function headersOf({ headers: { open, secret } }: HttpRequest): Headers | { unsendable: 'open' | 'secret' } {
  for (const [unsendable, rows] of [['open', open] as const, ['secret', secret] as const])
    if (!rows.every((row) => isSendable(...row))) return { unsendable };
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of [...open, ...secret]) headers.set(name, value);
  return headers;
}

/**
 * Encodes the body of a request from records given as JSON. With the `single` structure, pass
 * exactly one record.
 */
export function bodyOf({ structure, wrapperKey }: HttpRequest, records: Pick<Batch, 'lines' | 'bytes'>): Buffer {
  if (structure === 'single') return encodeLines(records, { between: ',' });
  const [open, close] = structure === 'array' ? ['', ''] : [`{${JSON.stringify(wrapperKey)}:`, '}'];
  return encodeLines(records, { before: `${open}[`, between: ',', after: `]${close}` });
}

function openHeaders(settings: ConnectorConfig['settings']): Row[] {
  const rows = at(settings, 'headers');
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown): Row[] => {
    const name = text(row, 'header_key');
    return name === undefined ? [] : [[name, text(row, 'header_value') ?? '']];
  });
}

function secretHeaders(secrets: ConnectorConfig['secrets']): Row[] {
  const value = at(secrets, 'auth_headers');
  if (!isRecord(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
