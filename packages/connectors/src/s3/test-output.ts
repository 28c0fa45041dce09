import { createTester } from '../_shared/connection-test/create-tester.js';
import { unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import type { Tester } from '@connector-frame/engine/connector-api';
import { refused } from './refusals.js';
import { awsEndpoint, openBucket, request, storage } from './storage.js';
import { element } from './xml.js';

/**
 * Creates a tester that starts a multipart upload under the prefix and aborts it: this requires
 * write permission but leaves no object.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
 */
export function createS3OutputTester(subject: Subject = storage, aws = awsEndpoint): Tester {
  return createTester(subject, async (config, { egress }) => {
    const bucket = await openBucket(config, egress, aws);
    if ('ok' in bucket) return bucket;
    const folder = (text(config.settings, 'prefix') ?? '').replace(/^\/+|\/+$/g, '');
    const key = [...folder.split('/'), 'connection-test'].filter(Boolean).map(encodeURIComponent).join('/');

    const begun = await request(bucket, egress, 'POST', `/${key}?uploads=`);
    const body = await begun.text();
    if (begun.status !== 200) return refused(begun, body, subject, 'It needs s3:PutObject on what is in the bucket.');
    const upload = element(body, 'UploadId');
    if (!upload) return unexpected(subject);
    const called = await request(bucket, egress, 'DELETE', `/${key}?${new URLSearchParams({ uploadId: upload })}`);
    return passed(
      called.status === 204
        ? 'May write to the bucket. Nothing was written'
        : 'May write to the bucket. An empty upload named connection-test could not be called off; it holds no data',
    );
  });
}
