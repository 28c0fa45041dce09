/**
 * R17: random calls generated from the service's OpenAPI document. No response is a 5xx, and each
 * matches the document. A failure prints its seed. To repeat that sequence alone:
 * `FUZZ_SEED=<seed> npm test -- packages/service/src/http/fuzz`
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pglite, postgresql } from '../../../../test/support/databases.js';
import { fuzz, readDocument, type ApiDocument, type FuzzFailure } from '../../../../test/support/fuzz/api-fuzz.js';
import { long } from '../../../../test/support/long.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { EgressError, type Egress } from '@connector-frame/engine/egress';

const CALLS = 25;
const wanted = process.env['FUZZ_SEED'];
/** 10,000 calls in the long run. The short run uses different seeds each day. */
const sequences = long ? 400 : 8;
const first = wanted === undefined ? (long ? 1 : Math.floor(Date.now() / 86_400_000) * 1_000) : Number(wanted);
const seeds = Array.from({ length: wanted === undefined ? sequences : 1 }, (_, index) => first + index);

/** Rejects every connection: the tests must not connect to random addresses. */
const refuse = (): Promise<never> => Promise.reject(new EgressError('egress_refused', 'nothing is dialled here'));
const nowhere: Egress = { fetch: refuse, connect: refuse };

describe.each(long ? [pglite(), postgresql()] : [pglite()])('random calls on $name (R17)', (databases) => {
  let service: TestService;
  let document: ApiDocument;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open(), egress: nowhere });
    document = await readDocument(service);
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it(`${seeds.length} sequences of ${CALLS} calls: no 5xx, and every answer as documented`, async () => {
    const failures: FuzzFailure[] = [];
    const counts = new Map<number, number>();
    for (const seed of seeds) {
      const found = await fuzz(service, document, seed, CALLS);
      failures.push(...found.failures);
      for (const status of found.statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
      if (failures.length >= 5) break;
    }
    const repeat = failures.map((failure) => `FUZZ_SEED=${failure.seed} (call ${failure.call})`).join(', ');
    expect(failures, `repeat with ${repeat}`).toEqual([]);
    // The calls pass the first checks: many succeed, and every kind of error occurs.
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const granted = (counts.get(200) ?? 0) + (counts.get(201) ?? 0) + (counts.get(204) ?? 0);
    if (wanted !== undefined) return;
    expect(granted / total).toBeGreaterThan(0.1);
    for (const status of [400, 401, 403, 404]) expect([status, counts.get(status) ?? 0]).not.toEqual([status, 0]);
  }, 1_200_000);
});
