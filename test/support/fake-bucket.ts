import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { sign } from './fake-s3.js';
import { listenHttp, type WebListener } from './listener.js';

export const BUCKET_KEYS = {
  access_key: 'AKIACANARYACCESSKEY2',
  secret_key: 'canary/secret+of+the+bucket0123456789abc',
};

export interface BucketRequest {
  method: string;
  /** Object key, decoded; empty for the bucket. */
  key: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Response of the bucket. `cutAfter`: closes the connection after this many bytes of the body. */
export interface BucketAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer | string;
  cutAfter?: number;
}

interface StoredObject {
  body: Buffer;
  etag: string;
  time: number;
}

export interface FakeBucket extends WebListener {
  readonly objects: Map<string, StoredObject>;
  readonly requests: BucketRequest[];
  /** Overrides the response to a request; undefined uses the bucket's own. */
  intercept: ((request: BucketRequest) => BucketAnswer | undefined) | undefined;
  /** Clock of the `Date` header and of new objects. */
  now: () => number;
  put(key: string, body: Buffer | string, time?: number): void;
  /** Keys of the objects requested so far, in order. */
  readonly read: string[];
}

export const problem = (status: number, code: string): BucketAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>See the code.</Message></Error>`,
});

/**
 * Starts a bucket named `logs` that behaves as S3 documents: ListObjectsV2 in byte order of keys
 * with continuation, GET with If-Match and Range, PUT with Content-MD5, and verified signatures.
 */
export async function startFakeBucket(): Promise<FakeBucket> {
  const objects = new Map<string, StoredObject>();
  const requests: BucketRequest[] = [];
  const listener = await listenHttp((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      const { method = '', url = '', headers } = incoming;
      const { pathname, searchParams: query } = new URL(url, 'http://s3');
      const body = Buffer.concat(chunks);
      const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent);
      const request = { method, key: rest.join('/'), query, headers, body };
      requests.push(request);
      const isSigned = isSignedRight(method, url, headers, body);
      const answer =
        bucket.intercept?.(request) ??
        (isSigned
          ? name === 'logs'
            ? serve(request, bucket)
            : problem(404, 'NoSuchBucket')
          : problem(403, 'SignatureDoesNotMatch'));
      send(response, answer, bucket.now());
    });
  });
  const bucket: FakeBucket = {
    ...listener,
    objects,
    requests,
    intercept: undefined,
    now: () => Date.now(),
    put(key, body, time = bucket.now()) {
      const bytes = Buffer.from(body);
      const etag = createHash('md5').update(bytes).digest('hex');
      objects.set(key, { body: bytes, etag, time: time - (time % 1_000) });
    },
    get read() {
      return requests.flatMap(({ method, key }) => (method === 'GET' && key !== '' ? [key] : []));
    },
  };
  return bucket;
}

function isSignedRight(method: string, url: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const match =
    /Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    );
  if (match?.[1] !== BUCKET_KEYS.access_key) return false;
  const [, , date = '', region = '', names = '', signature] = match;
  const digest = headers['x-amz-content-sha256'];
  if (body.length > 0 && digest !== createHash('sha256').update(body).digest('hex')) return false;
  const scope = { date, region, service: 's3', headers: names.split(';') };
  return sign({ method, url, headers, body: '' }, scope, BUCKET_KEYS.secret_key) === signature;
}

function serve(request: BucketRequest, bucket: FakeBucket): BucketAnswer {
  const { method, key, query, headers, body } = request;
  if (method === 'GET' && key === '' && query.get('list-type') === '2') return list(query, bucket);
  const object = bucket.objects.get(key);
  if (method === 'GET') {
    if (!object) return problem(404, 'NoSuchKey');
    if (headers['if-match'] !== undefined && headers['if-match'] !== `"${object.etag}"`)
      return problem(412, 'PreconditionFailed');
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const range = `bytes ${from}-${object.body.length - 1}/${object.body.length}`;
    return {
      status: from > 0 ? 206 : 200,
      headers: { etag: `"${object.etag}"`, ...(from > 0 && { 'content-range': range }) },
      body: object.body.subarray(from),
    };
  }
  if (method === 'PUT') {
    if (createHash('md5').update(body).digest('base64') !== headers['content-md5']) return problem(400, 'BadDigest');
    bucket.put(key, body);
    return { headers: { etag: `"${bucket.objects.get(key)?.etag}"` } };
  }
  return problem(405, 'MethodNotAllowed');
}

function list(query: URLSearchParams, { objects }: FakeBucket): BucketAnswer {
  const token = query.get('continuation-token');
  const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64').toString();
  const size = Number(query.get('max-keys') ?? 1_000);
  const keys = [...objects.keys()]
    .filter(
      (key) => key.startsWith(query.get('prefix') ?? '') && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0,
    )
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const shown = keys.slice(0, size);
  const encode = (key: string): string =>
    query.get('encoding-type') === 'url' ? encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/') : key;
  const contents = shown.map((key) => {
    const { etag = '', time = 0, body } = objects.get(key) ?? {};
    const fields = `<LastModified>${new Date(time).toISOString()}</LastModified><ETag>&quot;${etag}&quot;</ETag>`;
    return `<Contents><Key>${encode(key)}</Key>${fields}<Size>${body?.length}</Size></Contents>`;
  });
  const next = Buffer.from(shown.at(-1) ?? '').toString('base64');
  const more = shown.length < keys.length;
  const encoding = query.get('encoding-type') === 'url' ? '<EncodingType>url</EncodingType>' : '';
  return {
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><ListBucketResult><Name>logs</Name>${encoding}<IsTruncated>${more}</IsTruncated>${
      more ? `<NextContinuationToken>${next}</NextContinuationToken>` : ''
    }${contents.join('')}</ListBucketResult>`,
  };
}

function send(
  response: ServerResponse,
  { status = 200, headers = {}, body = '', cutAfter }: BucketAnswer,
  now: number,
): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { date: new Date(now).toUTCString(), 'content-length': bytes.length, ...headers });
  if (cutAfter === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 20));
}
