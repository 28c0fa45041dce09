import { createHash } from 'node:crypto';
import { ConnectorError, type Clock } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { pathOf } from '../_shared/objects/object-path.js';
import { checkEtag } from '../_shared/objects/read-object.js';
import {
  ObjectError,
  READ_TIMEOUT_MS,
  WRITE_TIMEOUT_MS,
  type Listed,
  type ObjectStore,
} from '../_shared/objects/store.js';
import type { BucketClient } from './client.js';
import { listObjects } from './list-objects.js';

const READ_RIGHTS = 'It needs s3:GetObject on the objects of the bucket.';
const WRITE_RIGHTS = 'It needs s3:PutObject on the objects of the bucket.';

/** Returns the objects of a bucket. */
export function createS3Store(client: BucketClient, clock: Clock): ObjectStore {
  return {
    subject: client.subject,
    startsAfter: true,
    list: (listing) => listObjects(client, listing, () => clock.now()),
    open: (object, offset, signal) => openObject(client, object, offset, signal),
    async check(signal) {
      const response = await client.send('GET', '?list-type=2&max-keys=0', [200], { signal });
      // A key with write access may lack permission to list (`AccessDenied`), and some storages
      // reject `max-keys=0` (`InvalidArgument`).
      if ('isError' in response) {
        if (!['AccessDenied', 'InvalidArgument'].includes(response.code ?? ''))
          throw client.problem(response, WRITE_RIGHTS);
      } else if (!(await response.text()).includes('<ListBucketResult')) throw unexpected();
    },
    async put(key, { body, contentType }, signal) {
      const path = pathOf(key);
      if (path === undefined) throw invalidConfig('The prefix is not valid in an object key.');
      const headers = {
        'content-type': contentType,
        'content-md5': createHash('md5').update(body).digest('base64'),
      };
      const options = { signal, headers, body, timeoutMs: WRITE_TIMEOUT_MS };
      const response = await client.send('PUT', path, [200, 201, 204], options);
      if ('isError' in response) throw client.problem(response, WRITE_RIGHTS);
      // Every S3-compatible storage returns the ETag of a stored object.
      if (!response.headers.has('etag')) throw unexpected();
    },
  };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
async function openObject(
  client: BucketClient,
  { key, etag }: Listed,
  offset: number,
  signal: AbortSignal,
): Promise<Response> {
  const path = pathOf(key);
  if (path === undefined) throw new ObjectError('unaddressable');
  const response = await client.send('GET', path, [200, 206], {
    signal,
    stream: true,
    timeoutMs: READ_TIMEOUT_MS,
    headers: { ...(etag !== '' && { 'if-match': `"${etag}"` }), ...(offset > 0 && { range: `bytes=${offset}-` }) },
  });
  if ('isError' in response) {
    const { status } = response.response;
    if (status === 412) throw new ObjectError('replaced');
    if (response.code === 'NoSuchKey' || (status === 404 && response.code !== 'NoSuchBucket'))
      throw new ObjectError('gone');
    if (response.code === 'InvalidObjectState') throw new ObjectError('archived');
    const problem = client.problem(response, READ_RIGHTS);
    if (response.code === 'AccessDenied') throw new ObjectError('denied', problem);
    throw problem;
  }
  await checkEtag(response, etag);
  return response;
}

const unexpected = (): ConnectorError =>
  new ConnectorError(
    'unexpected_answer',
    'Unexpected response: it does not appear to come from S3-compatible storage.',
    'retry',
  );
