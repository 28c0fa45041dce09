import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { openPipelinesApi, type PipelinesApi } from '../../../../test/support/pipelines-api.js';
import { createEngineLeases } from './engine-leases.js';
import { createCountsWriter } from './pipeline-counts.js';
import type { CountsByNode } from './tables.js';

const HOUR = 3_600_000;
const START = Date.UTC(2030, 0, 1);

const counts = (records: number): CountsByNode => ({
  in: { type: 'input', ingress: { records, bytes: records }, egress: { records, bytes: records }, errors: 0 },
});
const recordsIn = (nodes: CountsByNode | undefined) => nodes?.['in']?.ingress.records;

describe.each(eachDatabase())('counts of pipelines on $name', (databases) => {
  let api: PipelinesApi;
  let id: string;
  let token: number;
  beforeAll(async () => {
    api = await openPipelinesApi(databases);
    token = (await createEngineLeases(api.service.database.queries).acquire('one', 3_600_000)) ?? 0;
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    id = (await api.create()).id;
  });

  const writer = (held = token) => createCountsWriter(api.service.database.queries, held);
  const put = (minutes: number, records: number, held = token) =>
    writer(held).put(new Date(START + minutes * 60_000), new Map([[id, counts(records)]]));
  const thin = (hourlyBefore: number, before: number) =>
    writer().thin({
      hourlyBefore: new Date(START + hourlyBefore * HOUR),
      before: new Date(START + before * HOUR),
      thinnedBefore: undefined,
    });
  const stored = async () => {
    const rows = await api.service.store.pipelineCounts.between(id, new Date(0), new Date(START + 1_000 * HOUR));
    return rows.map(({ minute, nodes }) => [(minute.getTime() - START) / 60_000, recordsIn(nodes)]);
  };

  it('are stored once per minute, and only if they have changed', async () => {
    await put(0, 1);
    await put(1, 1);
    await put(2, 5);
    await put(2, 7);
    expect(await stored()).toEqual([
      [0, 1],
      [2, 7],
    ]);
    const before = (minutes: number) =>
      api.service.store.pipelineCounts.before([id, 'unknown'], new Date(START + minutes * 60_000));
    expect(recordsIn((await before(2)).get(id))).toBe(1);
    expect(recordsIn((await before(3)).get(id))).toBe(7);
    expect((await before(0)).size).toBe(0);
  });

  it('are not stored by a process that has lost the lease, nor for a pipeline that was removed', async () => {
    await put(0, 1, token - 1);
    expect(await stored()).toEqual([]);
    await put(1, 2);
    await api.send('DELETE', `/v2/~/pipelines/${id}`);
    await put(2, 3);
    expect(await stored()).toEqual([]);
  });

  it('are kept by the minute, then by the hour, then as one row from which later ones count', async () => {
    for (const [minute, records] of [
      [0, 1],
      [59, 2],
      [60, 3],
      [100, 4],
      [119, 5],
      [185, 6],
      [186, 7],
    ] as const)
      await put(minute, records);
    await thin(3, -1);
    expect(await stored()).toEqual([
      [59, 2],
      [119, 5],
      [185, 6],
      [186, 7],
    ]);
    await thin(3, 2);
    expect(await stored()).toEqual([
      [119, 5],
      [185, 6],
      [186, 7],
    ]);
    await thin(1_000, 1_000);
    expect(await stored()).toEqual([[186, 7]]);
  });
});
