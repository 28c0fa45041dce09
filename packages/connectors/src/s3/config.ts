import type { TesterConfig } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { isRegion, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import type { AwsSignIn } from '../_shared/aws/key-source.js';
import type { Bucket } from './bucket.js';

/** The storage as named in messages, unless the connector type names it otherwise. */
export const storage: Subject = { product: 'the storage', credential: '/secrets/secret_key' };

/** What the configuration specifies, before any request. */
export interface BucketConfig extends Omit<Bucket, 'keys' | 'signing'> {
  signIn: AwsSignIn;
}

/** Parses the configuration. */
export function readBucketConfig({ settings, secrets }: TesterConfig, aws: AwsEndpoint): BucketConfig | Failure {
  const name = text(settings, 'bucket');
  if (!name) return missing('/settings/bucket', 'Enter a bucket.');
  const region = text(settings, 'region') ?? 'us-east-1';
  if (!isRegion(region))
    return failed('invalid_config', 'This is not the code of a region.', { at: '/settings/region' });

  const url = addressOf(settings, name, region, aws);
  if (!url) return failed('invalid_config', 'This is not a valid address.', { at: '/settings/endpoint' });
  const signIn = {
    accessKeyId: text(secrets, 'access_key'),
    secretAccessKey: text(secrets, 'secret_key'),
    roleArn: text(settings, 'role_arn'),
    region,
  };
  return { url, region, signIn, verifyTls: at(settings, 'skip_ssl_verification') !== true };
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
