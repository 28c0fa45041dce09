import { createHash } from 'node:crypto';
import {
  type Batch,
  type Batching,
  type Clock,
  ConnectorError,
  type CreateOutput,
  type Output,
} from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { BucketClient } from './client.js';
import { readEncoding } from './encodings/index.js';
import { awsEndpoint, invalid, oneOf, storage } from './config.js';
import { pathOf } from './object-key.js';
import { folderOf, LAYOUTS, type Layout } from './object-key.js';

const PUT_MS = 120_000;
const RIGHTS = 'It needs s3:PutObject on the objects of the bucket.';

/**
 * Writes records as objects of a bucket. The object key contains the batch ID, which identifies
 * where the batch starts in the stream, so that a retry overwrites the earlier object.
 */
export const createS3Output =
  (subject = storage, aws = awsEndpoint): CreateOutput =>
  ({ settings, secrets }, { egress, clock }) => {
    const client = new BucketClient({ config: { settings, secrets }, egress, clock, subject, aws });
    const encoding = readEncoding(settings);
    const layout = oneOf(
      [...LAYOUTS, undefined],
      text(settings, 'partition_format'),
      undefined,
      'This folder layout is not supported.',
    );
    const folder = (text(settings, 'prefix') ?? '').replace(/^\/+|\/+$/g, '');
    addressOf(`${folder}/`);
    const output: Output = {
      batching: readBatching(settings, encoding.maxBytes),
      async open(signal) {
        const response = await client.send('GET', '?list-type=2&max-keys=0', [200], { signal });
        // A key with write access may lack permission to list (`AccessDenied`), and some storages
        // reject `max-keys=0` (`InvalidArgument`).
        if ('isError' in response) {
          if (!['AccessDenied', 'InvalidArgument'].includes(response.code ?? ''))
            throw client.problem(response, RIGHTS);
        } else if (!(await response.text()).includes('<ListBucketResult')) throw unexpected();
      },
      async write(batch, signal) {
        const { body, rejected } = await encoding.encode(batch);
        if (!body) return { rejected };
        const path = addressOf(`${keyOf(batch, folder, layout, clock)}${encoding.extension}`);
        const headers = {
          'content-type': encoding.contentType,
          'content-md5': createHash('md5').update(body).digest('base64'),
        };
        const response = await client.send('PUT', path, [200, 201, 204], { signal, headers, body, timeoutMs: PUT_MS });
        if ('isError' in response) throw client.problem(response, RIGHTS);
        // Every S3-compatible storage returns the ETag of a stored object.
        if (!response.headers.has('etag')) throw unexpected();
        return { rejected };
      },
    };
    return output;
  };

const unexpected = (): ConnectorError =>
  new ConnectorError(
    'unexpected_answer',
    'Unexpected response: it does not appear to come from S3-compatible storage.',
    'retry',
  );

/**
 * Returns the URL path of a key.
 * @throws ConnectorError if no URL can address it
 */
function addressOf(key: string): string {
  const path = pathOf(key);
  if (path === undefined) throw invalid('The prefix is not valid in an object key.');
  return path;
}

/**
 * Returns the object key without the extension. Uses the time at which the batch was received, if
 * that is the same in every retry.
 */
function keyOf({ id, at: takenIn }: Batch, folder: string, layout: Layout | undefined, clock: Clock): string {
  const day = layout && folderOf(layout, takenIn ?? clock.now());
  const stamp = takenIn === undefined ? 'records' : new Date(takenIn).toISOString().replace(/[-:]|\.\d+/g, '');
  return [folder, day, `${stamp}-${id}`].filter(Boolean).join('/');
}

/** Parses `storage#/batch`, with its defaults. */
function readBatching(settings: Record<string, unknown>, maxBytes: number): Batching {
  const number = (name: string, fallback: number): number => {
    const value = at(settings, 'batch_config', name);
    return typeof value === 'number' && value > 0 ? value : fallback;
  };
  return {
    records: number('batch_record_count', 100_000),
    bytes: Math.min(number('batch_data_size', 10 * 1024 * 1024), maxBytes),
    waitMs: number('publish_rate', 45) * 1_000,
    replaces: true,
  };
}
