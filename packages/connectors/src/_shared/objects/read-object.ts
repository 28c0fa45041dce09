import { ConnectorError, EgressError } from '@connector-frame/engine/connector-api';
import { toNetworkError } from '../api/api-error.js';
import { ObjectError, type Listed, type ObjectSource } from './store.js';

/** Maximum number of consecutive connections without progress. */
const MAX_BREAKS = 3;

/**
 * Streams the stored bytes of an object. If a connection breaks, resumes on a new one at the same
 * byte of the same content.
 * @param from offset of the first byte
 * @throws ObjectError, ConnectorError
 */
export async function* readObject(
  store: ObjectSource,
  object: Listed,
  signal: AbortSignal,
  from = 0,
): AsyncGenerator<Uint8Array, void, void> {
  let offset = from;
  for (let breaks = 0; offset < object.size;) {
    const before = offset;
    let failure: unknown;
    try {
      for await (const chunk of bytesFrom(offset, await store.open(object, offset, signal))) {
        offset += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof EgressError)) throw error;
      failure = toNetworkError(error, store.subject);
    }
    if (offset >= object.size) return;
    breaks = offset > before ? 1 : breaks + 1;
    if (breaks > MAX_BREAKS)
      throw (
        failure ??
        new ConnectorError('connect_failed', 'The storage closed the connection in the middle of an object.', 'retry')
      );
  }
}

/**
 * Throws if a response has another ETag than the listing: some storages ignore `If-Match`.
 * @throws ObjectError
 */
export async function checkEtag({ body, headers }: Response, etag: string): Promise<void> {
  const found = headers.get('etag')?.replaceAll('"', '').replace(/^W\//, '');
  if (etag === '' || found === undefined || found === etag) return;
  await body?.cancel();
  throw new ObjectError('replaced');
}

function bytesFrom(offset: number, { body, headers, status }: Response): AsyncIterable<Uint8Array> {
  if (!body) return none();
  const begins = status === 206 ? Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1]) : 0;
  return begins === offset ? body : skip(body, offset - begins);
}

/** Drops the bytes before the requested offset: some storages ignore Range. */
async function* skip(body: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array, void, void> {
  if (!(bytes >= 0))
    throw new ConnectorError(
      'unexpected_answer',
      'The storage returned a different byte range than requested.',
      'retry',
    );
  let left = bytes;
  for await (const chunk of body) {
    if (chunk.byteLength > left) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.byteLength);
  }
}

async function* none(): AsyncGenerator<Uint8Array, void, void> {}
