import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fields, SchemaUpdate } from '@connector-frame/engine';
import { eachDatabase } from '../../../../test/support/databases.js';
import { openPipelinesApi, type PipelinesApi } from '../../../../test/support/pipelines-api.js';
import { createEdgeSchemaWriter, MAX_EVENTS } from './edge-schemas.js';
import { createEngineLeases } from './engine-leases.js';

const START = Date.UTC(2030, 0, 1);
const field = { types: { string: { count: 1, firstSeen: START, lastSeen: START } }, records: 1, lastRecord: 1 };

const update = (fields: Fields, minute?: number): SchemaUpdate => ({
  state: { mode: 'detecting', learningStart: START, updatedAt: START, records: 1, truncated: false, fields },
  ...(minute !== undefined && {
    event: { at: START + minute * 60_000, tags: ['field_added', 'type_added'], fields, count: 1 },
  }),
});

describe.each(eachDatabase())('schemas of edges on $name', (databases) => {
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

  const writer = (held = token) => createEdgeSchemaWriter(api.service.database, held);
  const put = (edgeId: string, fields: Fields, minute?: number, held?: number) =>
    writer(held).put(id, new Map([[edgeId, update(fields, minute)]]));
  const { get, events } = {
    get: (edgeId: string) => api.service.store.edgeSchemas.get(id, edgeId),
    events: (edgeId: string) => api.service.store.edgeSchemas.events(id, edgeId),
  };

  it('are stored with any name that a record can have', async () => {
    const fields = { 'a\u0000b': field, '\ud800': field, __proto__x: field, "'; drop table pipelines; --": field };
    await put('e', fields, 0);
    expect(await get('e')).toEqual(update(fields).state);
    expect(await events('e')).toMatchObject([{ fields, fieldCount: 1, tags: ['field_added', 'type_added'] }]);
  });

  it('keep their last events, newest first', async () => {
    for (let minute = 0; minute < MAX_EVENTS + 5; minute += 1) await put('e', {}, minute);
    const found = await events('e');
    expect(found).toHaveLength(MAX_EVENTS);
    expect(found[0]?.occurredAt).toEqual(new Date(START + (MAX_EVENTS + 4) * 60_000));
    expect(await events('other')).toEqual([]);
  });

  it('are not stored by a process that has lost the lease, nor for a pipeline that was removed', async () => {
    await put('e', { a: field }, 0, token - 1);
    expect([await get('e'), await events('e')]).toEqual([undefined, []]);
    await put('e', { a: field }, 0);
    await api.send('DELETE', `/v2/~/pipelines/${id}`);
    await put('e', { b: field }, 1);
    expect([await get('e'), await events('e')]).toEqual([undefined, []]);
  });

  it('are loaded for the engine, and deleted with their edge', async () => {
    for (const edgeId of ['one', 'two', 'gone']) await put(edgeId, { [edgeId]: field }, 0);
    const loaded = await writer().load(id, ['one', 'new'], ['one', 'two', 'new']);
    expect([...loaded]).toEqual([['one', update({ one: field }).state]]);
    expect([await get('two'), await get('gone'), await events('gone')]).toEqual([
      update({ two: field }).state,
      undefined,
      [],
    ]);
  });
});
