import { ConnectorError } from '@connector-frame/engine/connector-api';
import type { BucketClient } from './client.js';
import { LIST_TIMEOUT_MS, MAX_LISTING, type Listed, type ListedPage, type Listing } from '../_shared/objects/store.js';
import { elements } from '../_shared/xml-elements.js';

/**
 * Lists all objects under a prefix, in key order, up to 1,000 per page.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 * @throws ConnectorError
 */
export async function* listObjects(
  client: BucketClient,
  { prefix, startAfter, signal }: Listing,
  now: () => number,
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
      timeoutMs: LIST_TIMEOUT_MS,
    });
    if ('isError' in response)
      throw client.problem(response, 'It needs s3:ListBucket on the bucket and s3:GetObject on its objects.');
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
  new ConnectorError('unexpected_answer', 'Unexpected response: it is not an S3 object listing.', 'retry');
