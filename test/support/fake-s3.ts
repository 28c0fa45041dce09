import { createHash, createHmac } from 'node:crypto';
import type { Certificate } from './certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from './vendor.js';

export interface FakeS3Options {
  /** Secret access keys by access key ID. */
  keys: Readonly<Record<string, string>>;
  /** Buckets by name: their keys, and whether the access key may list, write and abort. */
  buckets: Readonly<
    Record<string, { objects: readonly string[]; mayList?: boolean; mayWrite?: boolean; mayAbort?: boolean }>
  >;
  region?: string;
  /** Access keys that AssumeRole returns, by role ARN. The session token is `session-of-<id>`. */
  roles?: Readonly<Record<string, string>>;
  /** External IDs that the trust policies of roles require, by role ARN. */
  externalIds?: Readonly<Record<string, string>>;
  /** Returned by GetCallerIdentity. */
  callerArn?: string;
}

/**
 * Starts a server for listing, multipart uploads and AssumeRole as AWS documents them. Signatures
 * are verified according to the documentation, not by a library.
 */
export function startFakeS3(options: FakeS3Options, tls?: Certificate): Promise<Vendor> {
  return startVendor((request) => respond(request, options), tls);
}

function respond(request: Received, options: FakeS3Options): Reply {
  const { keys, buckets, region = 'eu-central-1', roles = {} } = options;
  const signed = readAuthorization(request);
  if (!signed) return problem(403, 'AccessDenied');
  if (signed.region !== region) return problem(400, 'AuthorizationHeaderMalformed');
  const secret = keys[signed.accessKey];
  if (secret === undefined)
    return problem(403, signed.service === 'sts' ? 'InvalidClientTokenId' : 'InvalidAccessKeyId');
  if (sign(request, signed, secret) !== signed.signature) return problem(403, 'SignatureDoesNotMatch');
  const isRole = Object.values(roles).includes(signed.accessKey);
  if (isRole && request.headers['x-amz-security-token'] !== `session-of-${signed.accessKey}`)
    return problem(403, 'InvalidToken');
  return signed.service === 'sts' ? callSts(request, options) : serve(request, buckets);
}

function serve({ method, url }: Received, buckets: FakeS3Options['buckets']): Reply {
  const { pathname, searchParams: query } = new URL(url, 'http://s3');
  const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent);
  const bucket = Object.hasOwn(buckets, name) ? buckets[name] : undefined;
  if (!bucket) return problem(404, 'NoSuchBucket');
  const key = rest.join('/');
  if (method === 'GET' && key === '' && query.get('list-type') === '2') {
    if (bucket.mayList === false) return problem(403, 'AccessDenied');
    const found = bucket.objects.filter((object) => object.startsWith(query.get('prefix') ?? ''));
    const shown = found.slice(0, Number(query.get('max-keys') ?? 1000));
    const contents = shown.map((object) => `<Contents><Key>${escape(object)}</Key><Size>1</Size></Contents>`).join('');
    return xml(
      `<ListBucketResult><Name>${name}</Name><KeyCount>${shown.length}</KeyCount>${contents}</ListBucketResult>`,
    );
  }
  if (method === 'POST' && key !== '' && query.has('uploads')) {
    if (bucket.mayWrite === false) return problem(403, 'AccessDenied');
    return xml(
      `<InitiateMultipartUploadResult><Key>${escape(key)}</Key><UploadId>up&amp;load+/=1</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  if (method === 'DELETE' && query.get('uploadId') === 'up&load+/=1') {
    return bucket.mayAbort === false ? problem(403, 'AccessDenied') : { status: 204 };
  }
  return problem(405, 'MethodNotAllowed');
}

function callSts({ body }: Received, { keys, roles = {}, externalIds = {}, callerArn = '' }: FakeS3Options): Reply {
  const form = new URLSearchParams(body);
  if (form.get('Action') === 'GetCallerIdentity')
    return xml(
      `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${callerArn}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
    );
  const role = form.get('RoleArn') ?? '';
  const id = roles[role];
  const externalId = externalIds[role];
  if (id === undefined || (externalId !== undefined && externalId !== form.get('ExternalId')))
    return xml('<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>', 403);
  const given = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${keys[id]}</SecretAccessKey><SessionToken>session-of-${id}</SessionToken>`;
  return xml(
    `<AssumeRoleResponse><AssumeRoleResult><Credentials>${given}</Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  );
}

interface Signed {
  accessKey: string;
  date: string;
  region: string;
  service: string;
  headers: string[];
  signature: string;
}

function readAuthorization({ headers }: Received): Signed | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/(s3|sts)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const match = pattern.exec(headers.authorization ?? '');
  if (!match) return undefined;
  const [, accessKey = '', date = '', region = '', service = '', names = '', signature = ''] = match;
  return { accessKey, date, region, service, headers: names.split(';'), signature };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function sign(
  { method, url, headers, body }: Omit<Received, 'bytes'>,
  { date, region, service, headers: names }: Omit<Signed, 'accessKey' | 'signature'>,
  secret: string,
): string {
  const [path = '', search = ''] = url.split('?');
  const query = search
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .toSorted()
    .join('&')
    .replaceAll('+', '%20');
  const canonicalHeaders = names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const payload = headers['x-amz-content-sha256'] ?? sha256(body);
  const canonical = [method, path, query, canonicalHeaders, names.join(';'), payload].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => hmac(previous, part),
    `AWS4${secret}`,
  );
  return hmac(key, toSign).toString('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function xml(body: string, status = 200): Reply {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
  };
}

function problem(status: number, code: string): Reply {
  return xml(`<Error><Code>${code}</Code><Message>See the code.</Message><RequestId>1</RequestId></Error>`, status);
}
