import { exampleRecord, RECORD_TYPES } from '@connector-frame/connectors';
import { loadCatalog } from '@connector-frame/catalog';
import { parseTransform, tryTransform } from '@connector-frame/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { formatTransform, loadRepository, readTransformFile } from '../pipelines/transform-repository.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

const { transforms } = await loadRepository();
const get = (path: string) => service.call('GET', path, { key: acme.key });
const importText = (body: string, type = 'text/plain') =>
  service.call('POST', '/v3/transforms/repository/import', { key: acme.key, body, headers: { 'content-type': type } });

/** Applies a transform of the repository to records of the documented shapes. */
async function applied(id: string, type: string): Promise<Record<string, unknown>[]> {
  const parsed = await parseTransform((await loadRepository()).get(id)?.config);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const records: Record<string, unknown>[] = [];
  for (let seed = 0; seed < 30; seed += 1) {
    const record = exampleRecord(type, seed, Date.UTC(2026, 0, 2));
    const options = { now: 0, signal: new AbortController().signal, recordId: String(seed) };
    const tried = record && (await tryTransform(parsed.transform, record, options));
    if (!tried || 'rejected' in tried) throw new Error(JSON.stringify(tried));
    records.push(...tried.lines.map((line) => JSON.parse(line)));
  }
  return records;
}

describe('the repository of transforms', () => {
  it('names inputs that exist, and has a text for each', () => {
    expect(transforms.length).toBeGreaterThanOrEqual(12);
    for (const { id, inputs, name, description } of transforms) {
      expect([id, inputs.every((input) => loadCatalog().get('input', input))]).toEqual([id, true]);
      expect([id, inputs.length > 0 && name !== '' && description.endsWith('.')]).toEqual([id, true]);
    }
  });

  /** What each does to the example records of its input. */
  const effects: [id: string, type: string, check: (records: Record<string, unknown>[]) => void][] = [
    [
      'okta-systemlog-actor',
      'okta-systemlog',
      (records) => {
        for (const record of records) {
          expect(record).toMatchObject({ user: expect.any(String), source_ip: expect.stringMatching(/^[\d.]+$/) });
          expect(record['debugContext']).toBeUndefined();
        }
      },
    ],
    [
      'cloudtrail-without-reads',
      'cloudtrail',
      (records) => {
        expect(records.length).toBeGreaterThan(0);
        expect(records.length).toBeLessThan(30);
        for (const record of records) expect(record['readOnly']).toBe(false);
      },
    ],
    [
      'cloudtrail-actor',
      'cloudtrail',
      (records) => {
        expect(records[0]).toMatchObject({ time: '2026-01-02T00:00:00Z', user: expect.stringMatching(/^arn:/) });
        expect(records[0]?.['tlsDetails']).toBeUndefined();
      },
    ],
    [
      'github-audit-time',
      'github-audit-logs',
      (records) => {
        expect(records[0]).toMatchObject({ created_at: '2026-01-02T00:00:00Z', time: '2026-01-02T00:00:00Z' });
        expect(records[0]?.['@timestamp']).toBeUndefined();
      },
    ],
    [
      'crowdstrike-event',
      'crowdstrike-event-stream',
      (records) =>
        expect(records[0]).toMatchObject({
          time: '2026-01-02T00:00:00Z',
          type: expect.stringMatching(/Event$/),
        }),
    ],
    [
      'syslog-without-kernel',
      'monad-syslog',
      (records) => {
        expect(records.length).toBeGreaterThan(0);
        expect(records.length).toBeLessThan(30);
        for (const record of records) expect(record['facility_name']).not.toBe('kern');
      },
    ],
    [
      'zoom-mask-email',
      'zoom-activity-logs',
      (records) => {
        for (const record of records) {
          expect(record['email']).toMatch(/^\*\*\*@example\.com$/);
          expect(record['ip_address']).toBeUndefined();
        }
      },
    ],
    [
      'slack-audit-flat',
      'slack-enterprise-audit-logs',
      (records) =>
        expect(records[0]).toMatchObject({
          date_create: '2026-01-02T00:00:00Z',
          actor_user_email: expect.stringContaining('@'),
          context_ip_address: expect.any(String),
        }),
    ],
    [
      'cloudflare-audit-without-views',
      'cloudflare-audit-logs',
      (records) => {
        expect(records.length).toBeLessThan(30);
        for (const record of records) expect(record).not.toMatchObject({ action: { type: 'view' } });
      },
    ],
    [
      'google-workspace-login',
      'google-workspace-login-activity',
      (records) => {
        for (const record of records)
          expect(record).toMatchObject({
            time: '2026-01-02T00:00:00.000Z',
            user: expect.stringContaining('@'),
            event: expect.any(String),
            parameters: expect.any(Object),
          });
        // A flag that is false stays false.
        const calm = { parameters: expect.objectContaining({ is_suspicious: false }) };
        expect(records).toContainEqual(expect.objectContaining(calm));
      },
    ],
    [
      'tenable-compact',
      'tenable-vulnerabilities',
      (records) => {
        expect(records[0]?.['plugin']).toMatchObject({ id: expect.stringMatching(/^\d+$/), name: expect.any(String) });
        expect(records[0]).not.toHaveProperty('plugin.solution');
        expect(records[0]?.['output']).toBeUndefined();
      },
    ],
    [
      'duo-auth-essentials',
      'duo-security-auth-logs',
      (records) =>
        expect(Object.keys(records[0] ?? {}).sort()).toEqual(
          ['application', 'factor', 'reason', 'result', 'source_ip', 'time', 'user'].sort(),
        ),
    ],
  ];

  it('has an expectation for each transform', () => {
    expect(effects.map(([id]) => id).sort()).toEqual(transforms.map(({ id }) => id));
    for (const [, type] of effects) expect(RECORD_TYPES).toContain(type);
  });

  it.each(effects)('%s does what it says', async (id, type, check) => check(await applied(id, type)));

  it('is listed, and read by id', async () => {
    const list = await get('/v2/transforms/repository?limit=2&offset=1');
    expect(list.body.pagination).toEqual({ limit: 2, offset: 1, total: transforms.length });
    expect(list.body.transforms.map(({ id }: { id: string }) => id)).toEqual(
      transforms.slice(1, 3).map(({ id }) => id),
    );
    const { body } = await get(`/v2/transforms/repository/${list.body.transforms[0].id}`);
    expect(body).toEqual(list.body.transforms[0]);
    expect((await get('/v2/transforms/repository/nothing')).status).toBe(404);
    const index = await get('/v3/transforms/repository');
    expect(index.body.transforms).toHaveLength(transforms.length);
    const file = await get(`/v3/transforms/repository/${index.body.transforms[0].path}`);
    expect(file.body).toMatchObject({ name: index.body.transforms[0].name, config: { operations: expect.any(Array) } });
  });

  it('exports and imports each transform unchanged', async () => {
    for (const { path } of (await get('/v3/transforms/repository')).body.transforms) {
      const { body: file } = await get(`/v3/transforms/repository/${path}`);
      const exported = await service.call('POST', '/v3/transforms/repository/export', { key: acme.key, body: file });
      expect([exported.status, exported.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      const imported = await importText(exported.text);
      expect(imported.body).toEqual({ name: file.name, description: file.description, config: file.config });
      const made = await service.call('POST', `/v1/${acme.team}/transforms`, { key: acme.key, body: imported.body });
      expect([made.status, made.body.config], made.text).toEqual([200, file.config]);
    }
  });

  it('imports JSON too', async () => {
    const { status } = await importText(JSON.stringify({ name: 'J', config: { operations: [] } }));
    expect(status).toBe(200);
  });

  it.each([
    ['no YAML', 'name: [', 400],
    ['no object', '- a', 400],
    ['no name', 'config: { operations: [] }', 400],
    ['another field', 'name: a\nconfig: { operations: [] }\nsecrets: canary', 400],
    ['aliases', 'name: &a a\ntags: [*a]\nconfig: { operations: [] }', 400],
    [
      'many aliases',
      `a: &a [x]\n${'bcdefgh'
        .split('')
        .map((n, i) => `${n}: &${n} [${`*${'abcdefgh'[i]},`.repeat(9)}]`)
        .join('\n')}\n`,
      400,
    ],
    ['a tag of another language', 'name: !!js/function "x"\nconfig: { operations: [] }', 400],
    ['a prototype', 'name: a\nconfig: { operations: [] }\n__proto__: { polluted: 1 }', 400],
    ['two documents', 'name: a\nconfig: { operations: [] }\n---\nname: b', 400],
    ['an unknown operation', 'name: a\nconfig: { operations: [{ operation: explode }] }', 422],
    ['a broken program', 'name: a\nconfig: { operations: [{ operation: jq, arguments: { query: "(" } }] }', 422],
    ['a long text', `name: a\ndescription: ${'x'.repeat(300_000)}\nconfig: { operations: [] }`, 413],
  ])('refuses to import %s', async (_what, text, status) => {
    const refused = await importText(text);
    expect([refused.status, refused.text.includes('canary')], refused.text).toEqual([status, false]);
    expect(Object(Object.prototype).polluted).toBeUndefined();
  });

  it('refuses another content type', async () => {
    expect((await importText('{}', 'application/x-www-form-urlencoded')).status).toBe(415);
  });

  it('formats what it reads', async () => {
    const file = {
      name: 'a: b',
      description: 'yes',
      config: { operations: [{ operation: 'add', arguments: { key: 'a', value: 'no' } }] },
    };
    expect(await readTransformFile(await formatTransform(file))).toEqual(file);
  });
});
