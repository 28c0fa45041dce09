import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';

type Value = string | Record<string, string>;

/** Seeded random number generator, so that a failure can be reproduced. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Compares random edits with a small model: absent keeps, null clears, and an empty or masked value
 * is rejected (S13).
 */
describe('edits of secrets (S13)', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.store.close());

  const openAll = (id: string) => openStored(service, acme.team, id);

  const types = [
    {
      type: 'sumologic',
      settings: { url: 'https://collectors.sumologic.com/receiver/v1/http/abc' },
      required: ['access_id'],
      fields: ['access_id', 'access_key'],
      value: (n: number, field: string): Value =>
        field === 'access_id' ? `su${String(n).padStart(12, '0')}` : String(n).padStart(64, 'k'),
      refused: ['', '••••••••', '****', '●●●●●'] as Value[],
    },
    {
      type: 'http',
      settings: { endpoint: 'https://logs.acme.com', method: 'POST', payload_structure: 'array' },
      required: [],
      fields: ['auth_headers'],
      value: (n: number): Value => ({ Authorization: `Bearer ${n}`, 'X-Key': `key-${n}` }),
      refused: [{}, { Authorization: '' }, { Authorization: '••••' }] as Value[],
    },
  ];

  it.each(types)('of $type match the model', async ({ type, settings, required, fields, value, refused }) => {
    const base = `/v2/${acme.team}/outputs`;
    const pick = random(20_260_101);
    let model: Record<string, Value> = Object.fromEntries(fields.map((field) => [field, value(0, field)]));
    const first = Object.fromEntries(fields.map((field) => [field, { value: value(0, field) }]));
    const body = { name: 'Edited', type, config: { settings, secrets: first } };
    const made = await service.call('POST', base, { key: acme.key, body });
    expect(made.status, made.text).toBe(200);
    const { id } = made.body;
    const seen = new Set<number>();

    for (let step = 1; step <= 120; step += 1) {
      const secrets: Record<string, unknown> = {};
      const next = { ...model };
      let expected = 200;
      for (const field of fields) {
        const choice = pick(5);
        const bad = refused[pick(refused.length)];
        if (choice === 1) {
          secrets[field] = null;
          delete next[field];
        } else if (choice === 2) {
          secrets[field] = { value: value(step, field) };
          next[field] = value(step, field);
        } else if (choice === 3) {
          secrets[field] = { value: bad };
          expected = 400;
        } else if (choice === 4) {
          secrets[field] = { value: value(step, field), name: `Name ${step}`, description: 'Rotated' };
          next[field] = value(step, field);
        }
      }
      if (expected === 200 && required.some((field) => next[field] === undefined)) expected = 400;
      const method = pick(2) === 0 ? 'PATCH' : 'PUT';
      const sent = {
        name: 'Edited',
        config: { ...(method === 'PUT' || pick(2) === 0 ? { settings } : {}), secrets },
      };
      const answer = await service.call(method, `${base}/${id}`, { key: acme.key, body: sent });
      expect([step, answer.status], answer.text).toEqual([step, expected]);
      seen.add(expected);
      if (expected === 200) model = next;
      expect(await openAll(id)).toEqual(model);
      if (expected === 200) expect(Object.keys(answer.body.config.secrets).sort()).toEqual(Object.keys(model).sort());
    }
    expect(seen).toEqual(new Set([200, 400]));
  });

  it('report the fields that are empty or masked', async () => {
    const secrets = { access_id: { value: '' }, access_key: { value: '••••' } };
    const body = { name: 'Edited', type: 'sumologic', config: { settings: types[0]?.settings, secrets } };
    const answer = await service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body });
    expect(answer).toMatchObject({ status: 400, body: { error_type: 'invalid_request' } });
    expect(answer.body.additional_details.issues).toEqual([
      { path: '/secrets/access_id', code: 'required' },
      { path: '/secrets/access_key', code: 'masked' },
    ]);
  });

  it('ignore settings and secrets that the type no longer has', async () => {
    const type = types[1];
    const secrets = { auth_headers: { value: { Authorization: 'Bearer 1' } } };
    const body = { name: 'Old', type: 'http', config: { settings: type?.settings, secrets } };
    const made = await service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body });
    const [row] = await service.store.secrets.ofConnector(made.body.id);
    if (!row) throw new Error('no secret');
    await service.store.secrets.put([{ ...row, id: 'of-an-earlier-release', field: 'gone' }]);
    await service.database.script((run) =>
      run(`update connectors set settings = settings || '{"gone": true}' where id = '${made.body.id}'`),
    );
    const path = `/v2/${acme.team}/outputs/${made.body.id}`;
    const edit = { config: { secrets: { auth_headers: { value: { Authorization: 'Bearer 2' } } } } };
    const answer = await service.call('PATCH', path, { key: acme.key, body: edit });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.config.settings).not.toHaveProperty('gone');
    expect(await openAll(made.body.id)).toEqual({ auth_headers: { Authorization: 'Bearer 2' } });
    const named = { config: { secrets: { gone: { id: row.id } } } };
    expect((await service.call('PATCH', path, { key: acme.key, body: named })).status).toBe(400);
  });

  it('drop a secret whose field is no longer shown', async () => {
    const webhook = { webhook_url: { value: 'https://hooks.slack.com/services/T000/B000/XXXX' } };
    const body = {
      name: 'Slack',
      type: 'slack',
      config: { settings: { auth_config: { type: 'webhook' } }, secrets: webhook },
    };
    const made = await service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body });
    const bot = {
      settings: { auth_config: { type: 'bot_token', bot_token: { channel_id: 'C0123456789' } } },
      secrets: { bot_token: { value: 'xoxb-0000-example' } },
    };
    const path = `/v2/${acme.team}/outputs/${made.body.id}`;
    expect((await service.call('PATCH', path, { key: acme.key, body: { config: bot } })).status).toBe(200);
    expect(await openAll(made.body.id)).toEqual({ bot_token: 'xoxb-0000-example' });
  });
});
