import { createTester } from '../_shared/connection-test/create-tester.js';
import { unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import type { Tester } from '@connector-frame/engine/connector-api';
import { failureOfResponse } from './error-responses.js';
import { openBucket, request } from './bucket.js';
import type { AwsFields } from '../_shared/aws/failures.js';
import { awsEndpoint } from '../_shared/aws/endpoint.js';
import { storage } from './config.js';
import { element } from '../_shared/xml-elements.js';

/**
 * Creates a tester that lists one object under the prefix.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export function createS3InputTester(subject: Subject = storage, endpoint = awsEndpoint): Tester {
  return createTester(subject, async (config, context) => {
    const bucket = await openBucket(config, context, endpoint);
    if ('ok' in bucket) return bucket;
    const { egress } = context;
    const query = new URLSearchParams({
      'list-type': '2',
      'max-keys': '1',
      prefix: text(config.settings, 'prefix') ?? '',
    });
    const response = await request(bucket, egress, 'GET', `?${query}`);
    const body = await response.text();
    if (response.status !== 200) {
      return failureOfResponse(
        response,
        body,
        subject,
        'It needs s3:ListBucket on the bucket and s3:GetObject on its objects.',
      );
    }
    if (!body.includes('<ListBucketResult')) return unexpected(subject);
    return passed(
      body.includes('<Key>') ? 'Listed the bucket: there are files' : 'Listed the bucket: no file there yet',
    );
  });
}

/**
 * Creates a tester that starts a multipart upload under the prefix and aborts it: this requires
 * write permission but leaves no object.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
 */
export function createS3OutputTester(subject: Subject = storage, endpoint = awsEndpoint, fields?: AwsFields): Tester {
  return createTester(subject, async (config, context) => {
    const bucket = await openBucket(config, context, endpoint, fields);
    if ('ok' in bucket) return bucket;
    const { egress } = context;
    const folder = (text(config.settings, 'prefix') ?? '').replace(/^\/+|\/+$/g, '');
    const key = [...folder.split('/'), 'connection-test'].filter(Boolean).map(encodeURIComponent).join('/');

    const started = await request(bucket, egress, 'POST', `/${key}?uploads=`);
    const body = await started.text();
    if (started.status !== 200)
      return failureOfResponse(started, body, subject, 'It needs s3:PutObject on the objects of the bucket.');
    const upload = element(body, 'UploadId');
    if (!upload) return unexpected(subject);
    const called = await request(bucket, egress, 'DELETE', `/${key}?${new URLSearchParams({ uploadId: upload })}`);
    return passed(
      called.status === 204
        ? 'May write to the bucket. Nothing was written'
        : 'May write to the bucket. An empty upload named connection-test could not be aborted; it holds no data',
    );
  });
}
