import { ConnectorError } from '@connector-frame/engine/connector-api';
import type { BucketClient } from './client.js';
import { elements } from './xml.js';

/** An object in a listing. */
export interface Listed {
  key: string;
  /** Without quotes. Changes with the content. */
  etag: string;
  /**
   * When the object was written, in milliseconds since the epoch. For a multipart upload, when it
   * started.
   */
  time: number;
  size: number;
}

export interface ListedPage {
  objects: readonly Listed[];
  /** The storage's time, in milliseconds since the epoch. */
  at: number;
}

export interface Listing {
  prefix: string;
  /** Lists only keys after this one. */
  startAfter?: string;
  signal: AbortSignal;
  now: () => number;
}

/** Maximum bytes of a response: 1,000 keys of 3,000 bytes each, plus the XML around them. */
const MAX_LISTING = 8 * 1024 * 1024;
const LISTING_MS = 60_000;

/**
 * Lists all objects under a prefix, in key order, up to 1,000 per page.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 * @throws ConnectorError
 */
export async function* listObjects(
  client: BucketClient,
  { prefix, startAfter, signal, now }: Listing,
): AsyncGenerator<ListedPage, void, void> {
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      // A key may contain characters that XML can't represent.
      'encoding-type': 'url',
      ...(prefix !== '' && { prefix }),
      ...(token !== undefined && { 'continuation-token': token }),
      ...(token === undefined && startAfter !== undefined && { 'start-after': startAfter }),
    };
    const response = await client.send('GET', `?${queryOf(query)}`, [200], {
      signal,
      maxBytes: MAX_LISTING,
      timeoutMs: LISTING_MS,
    });
    if ('refused' in response)
      throw client.problem(response, 'It needs s3:ListBucket on the bucket, and s3:GetObject on what is in it.');
    const at = Date.parse(response.headers.get('date') ?? '');
    const xml = await response.text();
    const [result] = elements(xml, 'ListBucketResult');
    if (!result) throw unexpected();
    yield { objects: objectsIn(xml, result.get('EncodingType') === 'url'), at: Number.isNaN(at) ? now() : at };
    const more = result.get('IsTruncated') === 'true';
    const next = result.get('NextContinuationToken');
    if (more && (next === undefined || next === token)) throw unexpected();
    token = more ? next : undefined;
  } while (token !== undefined);
}

/** Encodes a query as the signature requires: a space is never `+`. */
const queryOf = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

function objectsIn(xml: string, encoded: boolean): Listed[] {
  return elements(xml, 'Contents').flatMap((entry) => {
    const written = entry.get('Key');
    const time = Date.parse(entry.get('LastModified') ?? '');
    if (written === undefined || Number.isNaN(time)) throw unexpected();
    const key = encoded ? decode(written) : written;
    const etag = (entry.get('ETag') ?? '').replaceAll('"', '');
    return [{ key, etag, time, size: Number(entry.get('Size') ?? 0) }];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const unexpected = (): ConnectorError =>
  new ConnectorError('unexpected_answer', 'Something answered, but not with a list of objects as S3 does.', 'retry');
