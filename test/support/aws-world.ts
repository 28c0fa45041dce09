import { parquetWriteBuffer } from 'hyparquet-writer';

/** A queue and buckets, for tests of inputs that read them. */
export interface AwsWorld {
  origin: string;
  /** Access keys that the server accepts. */
  keys: { accessKeyId: string; secretAccessKey: string };
  /** Creates a queue and returns its URL. */
  createQueue(name: string): Promise<string>;
  send(queueUrl: string, body: string): Promise<void>;
  /** Returns the number of messages that are left, hidden ones included. */
  left(queueUrl: string): Promise<number>;
  put(bucket: string, key: string, content: Uint8Array | string): Promise<void>;
  /** Calls an action of a service with the JSON protocol. Only of moto. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  call?(target: string, body: object): Promise<Record<string, any>>;
  close(): Promise<void>;
}

export interface AnnouncedFile {
  bucket: string;
  /** As it is; the notification encodes it. */
  key: string;
  size: number;
  eventName?: string;
}

/**
 * Returns a notification of S3.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
export const s3Event = (...files: AnnouncedFile[]): string =>
  JSON.stringify({
    Records: files.map(({ bucket, key, size, eventName = 'ObjectCreated:Put' }) => ({
      eventVersion: '2.1',
      eventSource: 'aws:s3',
      awsRegion: 'us-east-1',
      eventTime: '1970-01-01T00:00:00.000Z',
      eventName,
      s3: {
        s3SchemaVersion: '1.0',
        configurationId: 'testConfigRule',
        bucket: { name: bucket, arn: `arn:aws:s3:::${bucket}` },
        object: {
          key: encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/'),
          size,
          sequencer: '0055AED6DCD90281E5',
        },
      },
    })),
  });

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
export const eventBridgeEvent = ({ bucket, key, size }: AnnouncedFile): string =>
  JSON.stringify({
    version: '0',
    id: '17793124-05d4-b198-2fde-7ededc63b103',
    'detail-type': 'Object Created',
    source: 'aws.s3',
    account: '111122223333',
    time: '2021-11-12T00:00:00Z',
    region: 'us-east-1',
    resources: [`arn:aws:s3:::${bucket}`],
    detail: {
      version: '0',
      bucket: { name: bucket },
      object: { key, size, sequencer: '00617F08299329D189' },
      'request-id': 'N4N7GDK58NMKJ12R',
      requester: '123456789012',
      reason: 'PutObject',
    },
  });

/** https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
export const throughSns = (message: string): string =>
  JSON.stringify({
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
    Subject: 'Amazon S3 Notification',
    Message: message,
    Timestamp: '2012-05-02T00:54:06.655Z',
  });

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/how-to-enable-disable-notification-intro.html */
export const TEST_EVENT = JSON.stringify({
  Service: 'Amazon S3',
  Event: 's3:TestEvent',
  Time: '2014-10-13T15:57:02.089Z',
  Bucket: 'amzn-s3-demo-bucket',
  RequestId: '5582815E1AEA5ADF',
  HostId: '8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE',
});

/** A Parquet file with nested and missing values. */
export const parquetFile = (): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'time', data: [1_700_000_000_000n, 1_700_000_000_001n], type: 'INT64' },
        { name: 'activity_name', data: ['Logon', null], type: 'STRING', nullable: true },
      ],
    }),
  );
