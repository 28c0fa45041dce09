import { ConnectorError, type TesterConfig } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text, texts } from '../_shared/read.js';
import type { Credentials } from './assume-role.js';
import type { Bucket } from './bucket.js';
import { FORMATS, type FormatOptions } from '../_shared/formats/index.js';
import { LAYOUTS, type Layout } from './object-key.js';
import type { Compression } from '../_shared/unpack.js';

/** Parsed settings of an input. */
export interface InputSettings extends FormatOptions {
  prefix: string;
  compression: Compression;
  layout: Layout | undefined;
  /** Returns whether to read an object, by its full key. */
  matches: (key: string) => boolean;
  /**
   * Skips objects older than this, in milliseconds since the epoch. Absent: the time of the first
   * listing.
   */
  since: number | undefined;
}

const COMPRESSIONS = ['auto', 'gzip', 'none'] as const;

/**
 * Parses the settings.
 * @throws ConnectorError `invalid_config`, permanent
 */
export function readInputSettings(settings: Record<string, unknown>): InputSettings {
  const start = text(settings, 'backfill_start_time');
  const since = start === undefined ? undefined : Date.parse(start);
  if (Number.isNaN(since)) throw invalid('The start time is not a valid date and time.');
  return {
    prefix: text(settings, 'prefix') ?? '',
    format: oneOf(FORMATS, text(settings, 'format'), 'jsonl', 'This file format is not supported.'),
    columns: texts(settings, 'schema'),
    location: text(settings, 'record_location'),
    compression: oneOf(COMPRESSIONS, text(settings, 'compression'), 'auto', 'This compression is not supported.'),
    layout: oneOf(
      [...LAYOUTS, undefined],
      text(settings, 'partition_format'),
      undefined,
      'This folder layout is not supported.',
    ),
    matches: readFilter(settings),
    since,
  };
}

/**
 * Returns `given` if it is one of `values`, or `fallback` if it is absent.
 * @throws ConnectorError for another value
 */
export function oneOf<T extends string | undefined>(
  values: readonly T[],
  given: string | undefined,
  fallback: T,
  message: string,
): T {
  if (given === undefined) return fallback;
  const found = values.find((value) => value === given);
  if (found === undefined) throw invalid(message);
  return found;
}

export const invalid = (message: string): ConnectorError => new ConnectorError('invalid_config', message, 'permanent');

function readFilter(settings: Record<string, unknown>): (key: string) => boolean {
  const value = text(settings, 'key_filter', 'filter', 'value');
  if (text(settings, 'key_filter', 'type') !== 'filter' || value === undefined) return () => true;
  const included = text(settings, 'key_filter', 'filter', 'mode') !== 'exclude';
  const operator = text(settings, 'key_filter', 'filter', 'operator');
  return (key) => {
    if (operator === 'contains') return key.includes(value) === included;
    if (operator === 'starts_with') return key.startsWith(value) === included;
    return key.endsWith(value) === included;
  };
}

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
