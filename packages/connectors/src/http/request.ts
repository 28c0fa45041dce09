import { type Batch, encodeLines, isSendable } from '@connector-frame/engine/connector-api';
import type { HttpRequest } from './config.js';

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
