import { createTester } from '../_shared/connection-test/create-tester.js';
import { unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import type { Tester } from '@connector-frame/engine/connector-api';
import { refused } from './refusals.js';
import { awsEndpoint, openBucket, request, storage } from './storage.js';

/**
 * Creates a tester that lists one object under the prefix.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export function createS3InputTester(subject: Subject = storage, aws = awsEndpoint): Tester {
  return createTester(subject, async (config, { egress }) => {
    const bucket = await openBucket(config, egress, aws);
    if ('ok' in bucket) return bucket;
    const query = new URLSearchParams({
      'list-type': '2',
      'max-keys': '1',
      prefix: text(config.settings, 'prefix') ?? '',
    });
    const response = await request(bucket, egress, 'GET', `?${query}`);
    const body = await response.text();
    if (response.status !== 200) {
      return refused(
        response,
        body,
        subject,
        'It needs s3:ListBucket on the bucket, and s3:GetObject on what is in it.',
      );
    }
    if (!body.includes('<ListBucketResult')) return unexpected(subject);
    return passed(
      body.includes('<Key>') ? 'Listed the bucket: there are files' : 'Listed the bucket: no file there yet',
    );
  });
}
