import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { typeOf } from '../../../../../test/support/declared-fields.js';
import { eachDatabase } from '../../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import type { DataRecord, JsonValue } from '@connector-frame/engine';
import { connectors } from '@connector-frame/connectors';
import { createAuditLogs } from '../../store/audit-logs.js';
import { createActivityRecords } from './activity-records.js';

const monadApiActivityInput = connectors(typeOf('input:monad-api-activity'));
const SECRET = '00canary-secret-of-okta-0015';

const namesOf = (records: readonly DataRecord[]): unknown[] =>
  records.map(({ resource }) => Object(resource).new?.name);

describe.each(eachDatabase())('the audit log as an input on $name', (databases) => {
  let service: TestService;
  let database: Awaited<ReturnType<typeof databases.open>>;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    database = await databases.open();
    service = await createTestService({ database });
    acme = await service.tenant('Acme');
    other = await service.tenant('Other');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  const create = async ({ id, key }: Tenant, name: string): Promise<void> => {
    const config = { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: SECRET } } };
    const body = { name, type: 'okta-systemlog', config };
    const { status } = await service.call('POST', `/v2/${id}/inputs`, { key, body });
    expect(status).toBe(200);
  };
  async function read(tenant: Tenant, from?: JsonValue): Promise<{ records: DataRecord[]; cursor: JsonValue }> {
    const activity = createActivityRecords(createAuditLogs(database.queries), tenant.id, service.clock);
    const input = monadApiActivityInput.createInput?.({ settings: {}, secrets: {} }, Object({ activity }));
    if (input?.kind !== 'pages') throw new Error('no input');
    const records: DataRecord[] = [];
    let cursor: JsonValue = from ?? null;
    for await (const page of input.pages(from, new AbortController().signal)) {
      records.push(...page.records);
      ({ cursor } = page);
    }
    return { records, cursor };
  }

  test('delivers each change of the organization once, a moment later, as the API shows it', async () => {
    await create(acme, 'before');
    service.clock.advance(60_000);
    const start = await read(acme);
    expect(start.records).toEqual([]);
    service.clock.advance(60_000);
    for (let n = 0; n < 3; n += 1) await create(acme, `input ${n}`);
    await create(other, 'of others');
    const early = await read(acme, start.cursor);
    expect(early.records).toEqual([]);
    service.clock.advance(31_000);
    const found = await read(acme, early.cursor);
    const inputs = found.records.filter(({ resource }) => Object(resource).type !== 'secret');
    expect(namesOf(inputs)).toEqual(['input 0', 'input 1', 'input 2']);
    const { body } = await service.call('GET', `/v3/${acme.id}/audit_logs?limit=100`, { key: acme.key });
    expect(body.logs).toEqual(expect.arrayContaining(found.records));
    expect(JSON.stringify(found)).not.toContain('canary');
    expect((await read(acme, found.cursor)).records).toEqual([]);
    // The same time as the last change.
    expect(namesOf((await read(acme, start.cursor)).records)).toEqual(namesOf(found.records));
  });
});

test('says that there is no audit log', () => {
  expect(() => monadApiActivityInput.createInput?.({ settings: {}, secrets: {} }, Object({}))).toThrow(/audit log/);
});
