import { afterAll, beforeEach } from 'vitest';
import { startFakeBucket, type FakeBucket } from './fake-bucket.js';

/** Starts one bucket for all tests of a file and clears it, with its faults, before each test. */
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
