import { createHash } from 'node:crypto';
import { isRecord } from '@connector-frame/engine/connector-api';
import { toConnectorError } from '../_shared/api/api-error.js';
import { unexpected } from '../_shared/connection-test/failures.js';
import {
  LIST_TIMEOUT_MS,
  MAX_LISTING,
  ObjectError,
  READ_TIMEOUT_MS,
  WRITE_TIMEOUT_MS,
  type Listed,
  type ListedPage,
  type Listing,
  type ObjectStore,
} from '../_shared/objects/store.js';
import { invalidConfig } from '../_shared/output/send.js';
import { json, text } from '../_shared/read.js';
import type { GcsBucket } from './gcs-client.js';

const FIELDS = 'nextPageToken,items(name,generation,timeCreated,size)';
const PAGE_SIZE = '1000';

/** Returns the objects of a bucket. The generation of an object identifies its content. */
export function createGcsStore(bucket: GcsBucket, now: () => number): ObjectStore {
  const { client } = bucket;
  return {
    subject: client.subject,
    startsAfter: true,
    list: (listing) => listObjects(bucket, listing, now),
    open: (object, offset, signal) => openObject(bucket, object, offset, signal),
    // An account that may only create objects may not list them: the first write reports a problem.
    check: () => Promise.resolve(),
    async put(key, { body, contentType }, signal) {
      if (!isValidName(key)) throw invalidConfig('The prefix is not valid in an object name.');
      const response = await client.send(
        {
          method: 'POST',
          url: urlOf(bucket.uploadUrl, { uploadType: 'media', name: key }),
          headers: { 'content-type': contentType },
          body,
        },
        // The name is the same in every attempt, so that an attempt replaces the one before.
        { signal, timeoutMs: WRITE_TIMEOUT_MS, repeatable: true },
      );
      if (!response.ok) throw bucket.problem(response);
      const digest = createHash('md5').update(body).digest('base64');
      if (text(await json(response), 'md5Hash') !== digest) throw toConnectorError(unexpected(client.subject));
    },
  };
}

/** https://cloud.google.com/storage/docs/objects#naming */
const isValidName = (key: string): boolean => key !== '.' && key !== '..' && !/[\r\n\p{Surrogate}]/u.test(key);

/** https://cloud.google.com/storage/docs/json_api/v1/objects/list */
async function* listObjects(
  bucket: GcsBucket,
  { prefix, startAfter, signal }: Listing,
  now: () => number,
): AsyncGenerator<ListedPage, void, void> {
  const { client } = bucket;
  let token: string | undefined;
  do {
    const url = urlOf(`${bucket.url}/o`, {
      fields: FIELDS,
      maxResults: PAGE_SIZE,
      ...(prefix !== '' && { prefix }),
      ...(startAfter !== undefined && { startOffset: startAfter }),
      ...(token !== undefined && { pageToken: token }),
    });
    const response = await client.send({ url }, { signal, maxBytes: MAX_LISTING, timeoutMs: LIST_TIMEOUT_MS });
    if (!response.ok) throw bucket.problem(response);
    const at = Date.parse(response.headers.get('date') ?? '');
    const page = await json(response);
    if (!isRecord(page)) throw toConnectorError(unexpected(client.subject));
    const { items = [] } = page;
    const objects = Array.isArray(items) ? items.map(listed) : [undefined];
    const next = text(page, 'nextPageToken');
    if (objects.includes(undefined) || (next !== undefined && next === token))
      throw toConnectorError(unexpected(client.subject));
    yield { objects: objects.filter((each) => each !== undefined), at: Number.isNaN(at) ? now() : at };
    token = next;
  } while (token !== undefined);
}

function listed(item: unknown): Listed | undefined {
  // Names may begin or end with spaces, which `text` would trim.
  const key: unknown = isRecord(item) ? item['name'] : undefined;
  const etag = text(item, 'generation');
  const time = Date.parse(text(item, 'timeCreated') ?? '');
  const size = Number(text(item, 'size'));
  if (typeof key !== 'string' || etag === undefined || Number.isNaN(time) || Number.isNaN(size)) return undefined;
  return { key, etag, time, size };
}

/**
 * An object with `Content-Encoding: gzip` arrives decompressed, and then from its start.
 * https://cloud.google.com/storage/docs/transcoding
 */
async function openObject(
  bucket: GcsBucket,
  { key, etag }: Listed,
  offset: number,
  signal: AbortSignal,
): Promise<Response> {
  // Any other name is encoded as one segment of the path.
  if (key === '.' || key === '..') throw new ObjectError('unaddressable');
  const url = urlOf(`${bucket.url}/o/${encodeURIComponent(key)}`, { alt: 'media', ifGenerationMatch: etag });
  const headers = { ...(offset > 0 && { range: `bytes=${offset}-` }) };
  const response = await bucket.client.send({ url, headers }, { signal, stream: true, timeoutMs: READ_TIMEOUT_MS });
  if (response.status === 200 || response.status === 206) return response;
  await response.body?.cancel();
  if (response.status === 412) throw new ObjectError('replaced');
  if (response.status === 404) throw new ObjectError('gone');
  const problem = bucket.problem(response);
  if (response.status === 403) throw new ObjectError('denied', problem);
  throw problem;
}

export function urlOf(address: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
