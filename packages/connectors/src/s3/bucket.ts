import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import {
  systemClock,
  type AwsKeys,
  type Egress,
  type EgressInit,
  type TesterConfig,
  type TesterContext,
} from '@connector-frame/engine/connector-api';
import type { Failure } from '../_shared/connection-test/outcome.js';
import type { AwsEndpoint } from '../_shared/aws/endpoint.js';
import type { AwsFields } from '../_shared/aws/failures.js';
import { KeySource } from '../_shared/aws/key-source.js';
import { readBucketConfig } from './config.js';
import { S3_FIELDS } from './error-responses.js';

/** A bucket and the keys to access it. */
export interface Bucket {
  /** URL of the bucket, without a trailing slash. */
  url: string;
  region: string;
  keys: AwsKeys;
  verifyTls: boolean;
  /** Cache of signing keys, for one bucket and its keys. */
  signing?: Map<string, ArrayBuffer>;
}

/** Parses the configuration and assumes the role, if there is one. */
export async function openBucket(
  config: TesterConfig,
  { egress, aws: roles }: Pick<TesterContext, 'egress' | 'aws'>,
  endpoint: AwsEndpoint,
  fields: AwsFields = S3_FIELDS,
): Promise<Bucket | Failure> {
  const bucketConfig = readBucketConfig(config, endpoint);
  if ('ok' in bucketConfig) return bucketConfig;
  const { url, region, verifyTls, signIn } = bucketConfig;
  const source = new KeySource(signIn, { egress, now: () => systemClock.now(), endpoint, roles, fields });
  const keys = await source.get();
  return 'ok' in keys ? keys : { url, region, verifyTls, keys };
}

/** Options of a request. */
export interface RequestOptions extends Pick<EgressInit, 'signal' | 'timeoutMs' | 'maxBytes' | 'stream'> {
  headers?: Readonly<Record<string, string>>;
  /** Included in the signature, so that it can't be modified in transit. */
  body?: Uint8Array;
}

/**
 * Sends one signed request to the bucket.
 * @param path begins with `/` or `?`
 */
export async function request(
  bucket: Bucket,
  egress: Egress,
  method: string,
  path: string,
  { headers = {}, body, ...options }: RequestOptions = {},
): Promise<Response> {
  const { accessKeyId, secretAccessKey, sessionToken } = bucket.keys;
  const digest = body && createHash('sha256').update(body).digest('hex');
  const signed = await new AwsV4Signer({
    method,
    url: `${bucket.url}${path}`,
    headers: { ...headers, ...(digest && { 'x-amz-content-sha256': digest }) },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 's3',
    region: bucket.region,
    ...(bucket.signing && { cache: bucket.signing }),
  }).sign();
  return egress.fetch(signed.url, {
    method: signed.method,
    headers: signed.headers,
    verifyTls: bucket.verifyTls,
    ...(body && { body }),
    ...options,
  });
}
