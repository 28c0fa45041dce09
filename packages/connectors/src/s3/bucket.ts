import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { Egress, EgressInit, TesterConfig } from '@connector-frame/engine/connector-api';
import type { Failure } from '../_shared/connection-test/outcome.js';
import { assumeRole, type Credentials } from './assume-role.js';
import { readBucketConfig, type AwsEndpoint, type BucketConfig } from './config.js';

/** A bucket and the credentials to access it. */
export interface Bucket {
  /** URL of the bucket, without a trailing slash. */
  url: string;
  region: string;
  credentials: Credentials;
  verifyTls: boolean;
  /** Cache of signing keys, for one bucket and its credentials. */
  signing?: Map<string, ArrayBuffer>;
}

/** Parses the configuration and assumes the role, if there is one. */
export async function openBucket(config: TesterConfig, egress: Egress, aws: AwsEndpoint): Promise<Bucket | Failure> {
  const bucketConfig = readBucketConfig(config, aws);
  if ('ok' in bucketConfig) return bucketConfig;
  const { url, region, verifyTls } = bucketConfig;
  const credentials = await credentialsFor(bucketConfig, egress, aws);
  return 'ok' in credentials ? credentials : { url, region, verifyTls, credentials };
}

/** Returns the keys themselves, or temporary credentials of the role. */
export function credentialsFor(
  { keys, role, region }: BucketConfig,
  egress: Egress,
  aws: AwsEndpoint,
): Promise<Credentials | Failure> {
  return role ? assumeRole(role, keys, region, egress, aws('sts', region)) : Promise.resolve(keys);
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
  const { accessKey, secretKey, sessionToken } = bucket.credentials;
  const digest = body && createHash('sha256').update(body).digest('hex');
  const signed = await new AwsV4Signer({
    method,
    url: `${bucket.url}${path}`,
    headers: { ...headers, ...(digest && { 'x-amz-content-sha256': digest }) },
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    ...(sessionToken && { sessionToken }),
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
