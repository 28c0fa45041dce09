import { ConnectorError, EgressError } from '@connector-frame/engine/connector-api';
import type { BucketClient } from './client.js';
import { onTheWay } from './connector-errors.js';
import type { Listed } from './list-objects.js';
import { pathOf } from './object-key.js';
import { storage } from './storage.js';

/**
 * Why an object can't be read: it is `gone`, it was `replaced` since the listing, or the storage
 * does not return it.
 */
export type ObjectFault = 'gone' | 'replaced' | 'archived' | 'denied' | 'unaddressable';

export class ObjectError extends Error {
  override readonly name = 'ObjectError';
  constructor(
    readonly fault: ObjectFault,
    /** The same failure for the whole input, if it may affect more than this object. */
    readonly asFailure?: ConnectorError,
  ) {
    super(fault);
  }
}

/** Milliseconds until the storage responds, and between two parts of the body. */
const PATIENCE_MS = 30_000;
/** Maximum number of consecutive connections without progress. */
const MAX_BREAKS = 3;
const RIGHTS = 'It needs s3:GetObject on what is in the bucket.';

/**
 * Streams the stored bytes of an object. If a connection breaks, resumes on a new one at the same
 * byte of the same content.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 * @throws ObjectError, ConnectorError
 */
export async function* readObject(
  client: BucketClient,
  object: Listed,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const path = pathOf(object.key);
  if (path === undefined) throw new ObjectError('unaddressable');
  let offset = 0;
  for (let breaks = 0; offset < object.size;) {
    const before = offset;
    let failure: unknown;
    try {
      for await (const chunk of await open(client, path, object, offset, signal)) {
        offset += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof EgressError)) throw error;
      failure = onTheWay(error, storage);
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

async function open(
  client: BucketClient,
  path: string,
  { etag }: Listed,
  offset: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await client.send('GET', path, [200, 206], {
    signal,
    stream: true,
    timeoutMs: PATIENCE_MS,
    headers: { ...(etag !== '' && { 'if-match': `"${etag}"` }), ...(offset > 0 && { range: `bytes=${offset}-` }) },
  });
  if ('refused' in response) {
    const { status } = response.response;
    if (status === 412) throw new ObjectError('replaced');
    if (response.code === 'NoSuchKey' || (status === 404 && response.code !== 'NoSuchBucket'))
      throw new ObjectError('gone');
    if (response.code === 'InvalidObjectState') throw new ObjectError('archived');
    const problem = client.problem(response, RIGHTS);
    if (response.code === 'AccessDenied') throw new ObjectError('denied', problem);
    throw problem;
  }
  const { body, headers, status } = response;
  if (!body) return none();
  // Some storages ignore If-Match.
  const found = headers.get('etag')?.replaceAll('"', '').replace(/^W\//, '');
  if (etag !== '' && found !== undefined && found !== etag) {
    await body.cancel();
    throw new ObjectError('replaced');
  }
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
