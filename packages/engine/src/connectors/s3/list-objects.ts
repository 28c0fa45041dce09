import { EndError } from '../../runner/ends.js';
import type { BucketClient } from './client.js';
import { element, elements } from './xml.js';

/** An object as a listing shows it. */
export interface Listed {
  key: string;
  /** Without quotes. Another one: other content. */
  etag: string;
  /** When it was written, milliseconds since the epoch; of a large upload: when it began. */
  time: number;
  size: number;
}

export interface ListedPage {
  objects: readonly Listed[];
  /** The storage's own time, milliseconds since the epoch. */
  at: number;
}

export interface Listing {
  prefix: string;
  /** Only keys behind this one. */
  startAfter?: string;
  signal: AbortSignal;
  now: () => number;
}

/** A thousand keys of three thousand bytes each, and what stands around them. */
const MAX_LISTING = 8 * 1024 * 1024;
const LISTING_MS = 60_000;

/**
 * Everything under a prefix, in the order of the keys, a thousand at a time.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html @throws EndError
 */
export async function* listObjects(
  client: BucketClient,
  { prefix, startAfter, signal, now }: Listing,
): AsyncGenerator<ListedPage, void, void> {
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      // A key may hold what XML can't.
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
    if (!xml.includes('<ListBucketResult')) throw unexpected();
    yield { objects: objectsIn(xml), at: Number.isNaN(at) ? now() : at };
    const more = element(xml, 'IsTruncated') === 'true';
    const next = element(xml, 'NextContinuationToken');
    if (more && (next === undefined || next === token)) throw unexpected();
    token = more ? next : undefined;
  } while (token !== undefined);
}

/** As it is signed: a space is never a plus. */
const queryOf = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

function objectsIn(xml: string): Listed[] {
  const encoded = element(xml, 'EncodingType') === 'url';
  return [...elements(xml, 'Contents')].flatMap((entry) => {
    const written = element(entry, 'Key');
    const time = Date.parse(element(entry, 'LastModified') ?? '');
    if (written === undefined || Number.isNaN(time)) throw unexpected();
    const key = encoded ? decode(written) : written;
    const etag = (element(entry, 'ETag') ?? '').replaceAll('"', '');
    return [{ key, etag, time, size: Number(element(entry, 'Size') ?? 0) }];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const unexpected = (): EndError =>
  new EndError('unexpected_answer', 'Something answered, but not with a list of objects as S3 does.', 'retry');
