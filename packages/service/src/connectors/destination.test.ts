import { boundPointers, isShown } from '@connector-frame/catalog/validate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allTypes, asWrite, writePath } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { movesOf } from '../../../../test/support/destinations.js';
import { dailyPart } from '../../../../test/support/long.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

/**
 * A caller who can change a destination (S03) or its protection (S32) must not be able to use a
 * secret there without knowing it.
 */
describe('a stored secret after a change of destination or transport (S03, S32)', () => {
  const databases = anyDatabase();
  const moves = allTypes().flatMap(movesOf);
  const tried = dailyPart(moves, 9);
  const reached: string[] = [];
  let service: TestService;
  let acme: Tenant;
  let session: string;

  beforeAll(async () => {
    const database = await databases.open();
    const egress = {
      fetch: (url: string | URL) => (reached.push(String(url)), Promise.reject(new TypeError('closed'))),
      connect: ({ host }: { host: string }) => (reached.push(host), Promise.reject(new TypeError('closed'))),
    };
    service = await createTestService({ database, egress });
    acme = await service.tenant('Northwind');
    session = await service.session(acme);
  });
  afterAll(() => service.store.close());

  /** The database returns them in any order. */
  const storedSecrets = async (id: string) =>
    (await service.store.secrets.ofConnector(id)).toSorted((a, b) => a.field.localeCompare(b.field));

  it('is tested with more than 250 types and 190 transport fields', () => {
    const covered = new Set(moves.map(({ type }) => `${type.kind} ${type.type_id}`));
    expect(covered.size).toBeGreaterThan(250);
    expect(moves.length).toBeGreaterThan(covered.size);
    expect(moves.filter(({ mark }) => mark === 'transport').length).toBeGreaterThan(190);
  });

  it('is tested with all marked fields, except those where every change drops the secrets', () => {
    const covered = new Set(moves.map(({ type, path }) => `${type.kind} ${type.type_id} ${path}`));
    const missing = allTypes().flatMap((type) => {
      const hasSecrets = Object.keys(type.config.secrets.properties).length > 0;
      const marked = hasSecrets ? [...boundPointers(type.config)].filter(([, isMarked]) => isMarked) : [];
      const names = marked.map(([pointer]) => `${type.kind} ${type.type_id} /settings${pointer}`);
      // `movesOf` names a union by its own pointer, `boundPointers` by the pointer of its
      // discriminator.
      return names.filter((name) => !covered.has(name) && !covered.has(name.replace(/\/[^/]*$/, '')));
    });
    expect(missing).toEqual(['input kafka /settings/sasl/enabled', 'output syslog /settings/protocol']);
  });

  it.each(
    tried.map((move, index) => ({ name: `${move.type.kind} ${move.type.type_id} ${move.path}`, index, ...move })),
  )('must be entered again: $name', async ({ type, mark, index, before, after }) => {
    const base = writePath(acme.team, type.kind);
    const body = { name: 'Kept', type: type.type_id, config: asWrite(before) };
    const made = await service.call('POST', base, { key: acme.key, body });
    expect(made.status, made.text).toBe(200);
    const stored = await storedSecrets(made.body.id);
    const issues = Object.keys(made.body.config.secrets)
      .filter((field) => isShown(type.config.secrets.properties[field]?.['x-when'], after))
      .map((field) => ({ path: `/secrets/${field}`, code: 'required' }));
    expect(issues.length).toBeGreaterThan(0);

    reached.length = 0;
    const { settings } = after;
    const path = `${base}/${made.body.id}`;
    const test = { type: type.type_id, config: { settings, secrets: {} }, id: made.body.id };
    const ids = Object.entries<{ id: string }>(made.body.config.secrets).map(([field, { id }]) => [field, { id }]);
    const named = { settings, secrets: Object.fromEntries(ids) };
    const all = [
      ['PATCH', path, { config: { settings } }],
      ['POST', `${base}/test-connection`, test],
      ['PATCH', path, { config: named }],
      ['PUT', path, { name: 'Kept', config: { settings } }],
      ['POST', `${base}/test-connection`, { ...test, config: named }],
    ] as const;
    const isFull = mark === 'destination';
    const tries = isFull ? all : all.slice(0, 2);
    for (const [at, [method, address, body]] of tries.entries()) {
      // Alternate between API key and session: the result does not depend on the credential.
      const credential = (index + at) % 2 === 0 ? { key: acme.key } : { session };
      const answer = await service.call(method, address, { ...credential, body });
      expect([answer.status, answer.body.error_type]).toEqual([422, 'secret_reentry_required']);
      expect(answer.body.additional_details.issues).toEqual(expect.arrayContaining(issues));
    }
    const copy = { name: 'Copy', type: type.type_id, config: named };
    if (isFull)
      expect((await service.call('POST', base, { key: acme.key, body: copy })).body.error_type).toBe(
        'secret_reentry_required',
      );
    expect(reached).toEqual([]);
    expect(await storedSecrets(made.body.id)).toEqual(stored);

    const typed = await service.call('PATCH', path, { key: acme.key, body: { config: asWrite(after) } });
    expect(typed.status, typed.text).toBe(200);
  });
});
