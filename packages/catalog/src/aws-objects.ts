/**
 * How an input reads records from objects of Amazon S3: of a bucket, or those that a queue announces.
 */
import type { PollDefinition } from './poll.js';
import type { PollField, PollTemplate } from './poll-request.js';

export interface AwsObjectsDefinition {
  verified: PollDefinition['verified'];
  /** Pages of the vendor's documentation that the definition was taken from. */
  documentation: readonly string[];
  /** How requests are signed: as a role, with an access key, or with an access key that assumes a role. */
  access: {
    region: PollField;
    role_arn?: PollField;
    access_key_id?: PollField;
    secret_access_key?: PollField;
  };
  /** Bucket to list. A definition has this, or `queue`. */
  bucket?: {
    name: PollField;
    /** Start of the keys. A part whose setting is empty is left out, with the slash behind it. */
    prefix?: PollTemplate;
    /** Endpoint of another vendor with the S3 API. Default: AWS. */
    endpoint?: PollTemplate;
  };
  queue?: {
    /** A definition has this, or `name`. */
    url?: PollField;
    name?: PollField;
    /**
     * What messages contain. `s3`: events of a bucket, from S3, SNS or EventBridge. `crowdstrike`: lists
     * of files. `message`: the records themselves. Default `s3`.
     */
    messages?: 's3' | 'crowdstrike' | 'message';
    /** Path to the records in a message: `detail.findings`. Default: the message is one. */
    records?: string;
    /** Schedule, as in cron. Absent: the queue is always read. */
    schedule?: PollField;
    /** Seconds for which a message that is being read stays hidden from other readers. */
    visibility?: PollField;
  };
  /** Adds bucket, key and time of the object to each record, if this switch is on. */
  metadata?: PollField;
  /** Reads only objects whose key contains one of `any`, and none of `none`. */
  keys?: { any?: readonly PollTemplate[]; none?: readonly PollTemplate[] };
  /** Absent: the settings `format`, `compression`, `record_location` and `key_filter` say it. */
  format?: AwsObjectFormat | { field: PollField; of: Readonly<Record<string, AwsObjectFormat>> };
}

export interface AwsObjectFormat {
  /**
   * - `jsonl`: one record per line.
   * - `json`: documents, with the records at `location`.
   * - `wsv`: columns separated by spaces, quoted if they contain some.
   * - `csv`, `pipes`: columns separated by commas, or by `|` and padded with spaces.
   * - `w3c`: columns separated by tabs or spaces, named in a line that begins with `#Fields:`.
   *
   * Objects whose key ends with `.parquet` are always read as Parquet.
   */
  kind: 'jsonl' | 'json' | 'wsv' | 'csv' | 'pipes' | 'w3c';
  /** Path to the records: `Records`. */
  location?: string;
  /** Names of the columns. Default: those in the first line. */
  columns?: readonly string[];
  /** Text that stands for "no value": the field is left out. */
  empty?: string;
}
