import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { recordsOf, type Found } from '../_shared/formats/parser.js';
import { toFields } from '../_shared/broker/message.js';
import { at, text } from '../_shared/read.js';

/** An object that a message announces. */
export interface Announced {
  bucket: string;
  key: string;
  /** Region of the bucket, if the message says it. */
  region: string | undefined;
  /** `undefined`: the message does not say it. */
  size: number | undefined;
  etag: string;
  /** Differs for each version of the content. */
  version: string;
}

/** Returns the objects that a message announces; `undefined` if it is none of these notifications. */
export type ReadMessage = (body: string) => Announced[] | undefined;

/**
 * Reads events of S3, as S3, SNS and EventBridge send them, and those that CloudTrail sends to SNS.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
 * https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-concepts.html
 */
export const readS3Events: ReadMessage = (body) => {
  const message = unwrapped(body);
  if (!isRecord(message)) return undefined;
  // Sent once, when notifications are configured.
  if (message['Event'] === 's3:TestEvent') return [];
  const { Records: records, detail, s3ObjectKey: keys, s3Bucket: bucket } = message;
  if (Array.isArray(records)) return records.flatMap(fromRecord);
  if (isRecord(detail) && isRecord(detail['object'])) return fromEventBridge(message, detail);
  if (typeof bucket === 'string' && Array.isArray(keys))
    return keys.flatMap((key) =>
      typeof key === 'string' ? [{ bucket, key, region: undefined, size: undefined, etag: '', version: '' }] : [],
    );
  return undefined;
};

function fromRecord(record: JsonValue): Announced[] {
  if (!/^(?:s3:)?ObjectCreated:/.test(text(record, 'eventName') ?? '')) return [];
  const bucket = text(record, 's3', 'bucket', 'name');
  const key = at(record, 's3', 'object', 'key');
  if (bucket === undefined || typeof key !== 'string') return [];
  const object = at(record, 's3', 'object');
  return [{ bucket, key: decodeKey(key), region: text(record, 'awsRegion'), ...contentOf(object, 'eTag') }];
}

/** Keys are not encoded here. */
function fromEventBridge(message: DataRecord, detail: DataRecord): Announced[] {
  if (text(message, 'detail-type') !== 'Object Created') return [];
  const bucket = text(detail, 'bucket', 'name');
  const key = at(detail, 'object', 'key');
  if (bucket === undefined || typeof key !== 'string') return [];
  return [{ bucket, key, region: text(message, 'region'), ...contentOf(detail['object'], 'etag') }];
}

function contentOf(object: unknown, name: string): Pick<Announced, 'size' | 'etag' | 'version'> {
  const size = at(object, 'size');
  const etag = text(object, name) ?? '';
  return {
    size: typeof size === 'number' ? size : undefined,
    etag,
    version: text(object, 'sequencer') ?? text(object, 'versionId') ?? etag,
  };
}

/** Keys are encoded as in a form: a space as `+`. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}

/** https://github.com/CrowdStrike/FDR */
export const readCrowdStrike: ReadMessage = (body) => {
  const message = unwrapped(body);
  const bucket = text(message, 'bucket');
  const files = at(message, 'files');
  if (bucket === undefined || !Array.isArray(files)) return undefined;
  return files.flatMap((file): Announced[] => {
    const key = at(file, 'path');
    const size = at(file, 'size');
    if (typeof key !== 'string') return [];
    const version = text(file, 'checksum') ?? '';
    return [{ bucket, key, region: undefined, size: typeof size === 'number' ? size : undefined, etag: '', version }];
  });
};

/** Returns the records that a message contains. */
export function recordsIn(body: string, location: string | undefined): Found[] {
  const message = unwrapped(body);
  if (location !== undefined) return recordsOf(JSON.stringify(message ?? null), location.split('.'));
  if (Array.isArray(message)) return recordsOf(body, []);
  return [{ record: isRecord(message) ? message : toFields(Buffer.from(body)) }];
}

/** Takes a message out of the envelope of SNS. https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
function unwrapped(body: string): JsonValue | undefined {
  const outer = parsed(body);
  if (!isRecord(outer) || outer['Type'] !== 'Notification' || typeof outer['Message'] !== 'string') return outer;
  return parsed(outer['Message']) ?? { message: outer['Message'] };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
