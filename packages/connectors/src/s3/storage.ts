import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { Egress, EgressInit, TesterConfig } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { assumeRole, type Credentials } from './assume-role.js';

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

/**
 * Returns the origin of an AWS service in a region: `https://s3.eu-west-1.amazonaws.com`. Tests
 * replace it.
 */
export type AwsEndpoint = (service: 's3' | 'sts', region: string) => string;

export const awsEndpoint: AwsEndpoint = (service, region) =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

export const storage: Subject = { product: 'the storage', credential: '/secrets/secret_key' };

/** What the configuration specifies, before any request. */
export interface Place extends Omit<Bucket, 'credentials' | 'signing'> {
  keys: Credentials;
  /** ARN of a role to assume with the keys. */
  role?: string;
}

/** Parses the configuration. */
export function readPlace({ settings, secrets }: TesterConfig, aws: AwsEndpoint): Place | Failure {
  const name = text(settings, 'bucket');
  if (!name) return missing('/settings/bucket', 'Enter a bucket.');
  const region = text(settings, 'region') ?? 'us-east-1';
  // The region becomes part of a host name.
  if (!/^[a-z0-9][\w-]*$/i.test(region))
    return failed('invalid_config', 'This is not the code of a region.', { at: '/settings/region' });

  const url = addressOf(settings, name, region, aws);
  if (!url) return failed('invalid_config', 'This is not an address we can connect to.', { at: '/settings/endpoint' });
  const keys = readKeys(settings, secrets);
  if ('ok' in keys) return keys;
  const role = text(settings, 'role_arn');
  return { url, region, keys, ...(role && { role }), verifyTls: at(settings, 'skip_ssl_verification') !== true };
}

/** Parses the configuration and assumes the role, if there is one. */
export async function openBucket(config: TesterConfig, egress: Egress, aws: AwsEndpoint): Promise<Bucket | Failure> {
  const place = readPlace(config, aws);
  if ('ok' in place) return place;
  const { url, region, verifyTls } = place;
  const credentials = await credentialsFor(place, egress, aws);
  return 'ok' in credentials ? credentials : { url, region, verifyTls, credentials };
}

/** Returns the keys themselves, or temporary credentials of the role. */
export function credentialsFor(
  { keys, role, region }: Place,
  egress: Egress,
  aws: AwsEndpoint,
): Promise<Credentials | Failure> {
  return role ? assumeRole(role, keys, region, egress, aws('sts', region)) : Promise.resolve(keys);
}

function addressOf(
  settings: Record<string, unknown>,
  name: string,
  region: string,
  aws: AwsEndpoint,
): string | undefined {
  const endpoint = text(settings, 'endpoint');
  const bucket = encodeURIComponent(name);
  // A bucket name may contain dots, which the certificate for per-bucket hosts does not cover.
  if (endpoint === undefined) return `${aws('s3', region)}/${bucket}`;
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, '');
  // An IP address has no subdomains.
  const inPath = at(settings, 'use_path_style') === true || /^[\d.]+$|^\[/.test(url.hostname);
  return inPath ? `${url.origin}${path}/${bucket}` : `${url.protocol}//${bucket}.${url.host}${path}`;
}

function readKeys(settings: Record<string, unknown>, secrets: Record<string, unknown>): Credentials | Failure {
  const accessKey = text(secrets, 'access_key');
  const secretKey = text(secrets, 'secret_key');
  if (text(settings, 'role_arn') && !accessKey && !secretKey) {
    return failed('unsupported', 'A role alone can not be used: this service has no AWS identity to take it on with.', {
      hint: 'Enter an access key that may assume the role.',
      at: '/settings/role_arn',
    });
  }
  if (!accessKey) return missing('/secrets/access_key', 'Enter an access key ID.');
  if (!secretKey) return missing('/secrets/secret_key', 'Enter the secret access key.');
  return { accessKey, secretKey };
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
