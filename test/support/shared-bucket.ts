import { afterAll, beforeEach } from 'vitest';
import { startFakeBucket, type FakeBucket } from './fake-bucket.js';

/** One bucket for all tests of a file, empty and without faults at the start of each. */
export async function openSharedBucket(): Promise<FakeBucket> {
  const bucket = await startFakeBucket();
  beforeEach(() => {
    bucket.objects.clear();
    bucket.requests.length = 0;
    bucket.intercept = undefined;
    bucket.now = () => Date.now();
  });
  afterAll(() => bucket.close());
  return bucket;
}
