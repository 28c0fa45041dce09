import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { outcome, post, startHost } from '../../../../test/support/start-host.js';
import type { HostOptions } from '../host-options.js';

const onTeamCreated = vi.fn<NonNullable<HostOptions['onTeamCreated']>>();
let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost({ 'POST /v3/org-parent/organizations': { status: 201, body: { id: 'org-new', name: 'x' } } });
});
afterEach(async () => {
  onTeamCreated.mockReset();
  await hosts.close();
});

const team = (authorizeTeam: () => boolean) =>
  hosts.create({ parentOrganizationId: 'org-parent', authorizeTeam, onTeamCreated });

test('creates an organization below the parent and passes its ID to onTeamCreated', async () => {
  const answer = await team(() => true)(post('/api/team', { name: 'Initech' }));
  expect(answer.status).toBe(201);
  expect(await answer.json()).toEqual({ id: 'org-new' });
  expect(hosts.seen[0]?.body).toEqual({ name: 'Initech' });
  expect(onTeamCreated.mock.calls[0]?.[0]).toEqual({ id: 'org-new', name: 'Initech' });
});

test('returns 403 without calling the service if authorizeTeam returns false', async () => {
  expect(await outcome(team(() => false)(post('/api/team', { name: 'Initech' })))).toEqual([403, 'forbidden']);
  expect(hosts.seen).toEqual([]);
});
