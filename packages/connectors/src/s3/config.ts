import type { TesterConfig } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import type { Credentials } from './assume-role.js';
import type { Bucket } from './bucket.js';

/**
 * Returns the origin of an AWS service in a region: `https://s3.eu-west-1.amazonaws.com`. Tests
 * replace it.
 */
export type AwsEndpoint = (service: 's3' | 'sts', region: string) => string;

export const awsEndpoint: AwsEndpoint = (service, region) =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** The storage as named in messages, unless the connector type names it otherwise. */
export const storage: Subject = { product: 'the storage', credential: '/secrets/secret_key' };

/** What the configuration specifies, before any request. */
export interface BucketConfig extends Omit<Bucket, 'credentials' | 'signing'> {
  keys: Credentials;
  /** ARN of a role to assume with the keys. */
  role?: string;
}

/** Parses the configuration. */
export function readBucketConfig({ settings, secrets }: TesterConfig, aws: AwsEndpoint): BucketConfig | Failure {
  const name = text(settings, 'bucket');
  if (!name) return missing('/settings/bucket', 'Enter a bucket.');
  const region = text(settings, 'region') ?? 'us-east-1';
  // The region becomes part of a host name.
  if (!/^[a-z0-9][\w-]*$/i.test(region))
    return failed('invalid_config', 'This is not the code of a region.', { at: '/settings/region' });

  const url = addressOf(settings, name, region, aws);
  if (!url) return failed('invalid_config', 'This is not a valid address.', { at: '/settings/endpoint' });
  const keys = readKeys(settings, secrets);
  if ('ok' in keys) return keys;
  const role = text(settings, 'role_arn');
  return { url, region, keys, ...(role && { role }), verifyTls: at(settings, 'skip_ssl_verification') !== true };
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
    return failed('unsupported', 'A role requires an access key: this service has no AWS identity to assume it with.', {
      hint: 'Enter an access key that may assume the role.',
      at: '/settings/role_arn',
    });
  }
  if (!accessKey) return missing('/secrets/access_key', 'Enter an access key ID.');
  if (!secretKey) return missing('/secrets/secret_key', 'Enter the secret access key.');
  return { accessKey, secretKey };
}
