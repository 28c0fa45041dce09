import { expect, test } from 'vitest';
import { fill, ORG_URL, TOKEN, fieldValues } from '../okta.js';
import type { Use } from '../run-frame-contract.js';
import type { World } from '../../support/world.js';

/** Failures, and how the page learns of them. */
export function failures({ fixture, open }: Use): void {
  test('reports a failed save with its code and keeps what was typed', async () => {
    const { world } = fixture();
    const existingId = await createConnector(world);
    const tab = await open();
    await tab.mount({ existingId, isNameEditable: true });
    await tab.form().type('Name', ', the second');
    // Another client deletes the connector in the meantime.
    await world.call('DELETE', `/v1/${world.team}/inputs/${existingId}`);
    await tab.form().press('Save changes');
    await expect
      .poll(() => tab.callbacks())
      .toEqual([['ready'], ['error', 'connector_not_found', expect.stringMatching(/\w+ \w+/)]]);
    expect(await tab.form().value('Name')).toContain(', the second');
  });

  test('renews a session that expires while the user types, and saves once', async () => {
    const { world, host, storedConnectors } = fixture();
    const { sessionToken, revoke } = await createRevocableSession(world);
    const tab = await open();
    await tab.mount({ sessionToken, fetchSession: true });
    await fill(tab.form());
    const [before, sessionRequests] = [await storedConnectors(), count(host.requests)];
    await revoke();
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
    expect((await storedConnectors()).length).toBe(before.length + 1);
    expect(count(host.requests)).toBe(sessionRequests + 1);
  });

  test('reports an expired session that cannot be renewed and keeps what was typed', async () => {
    const { sessionToken, revoke } = await createRevocableSession(fixture().world);
    const tab = await open();
    await tab.mount({ sessionToken });
    await fill(tab.form());
    await revoke();
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toContainEqual(['error', 'session_expired', expect.any(String)]);
    expect(await fieldValues(tab.form())).toEqual([ORG_URL, TOKEN]);
  });

  test.each([
    { kind: 'nonsense' },
    { frameOrigin: 'http://elsewhere.example' },
    { loadTimeout: -1 },
    { stylesheets: 'one.css' },
  ])('reports an invalid option: %o', async (wrong) => {
    const tab = await open();
    await tab.mount(wrong);
    const says = expect.stringMatching(new RegExp(Object.entries(wrong)[0]?.join('.*') ?? ''));
    await expect.poll(() => tab.callbacks()).toEqual([['error', 'invalid_options', says]]);
    expect(await tab.iframes()).toBe(0);
  });

  test("reports a form blocked by the page's policy, with the missing directive", async () => {
    const tab = await open('without-frames');
    await tab.mount();
    const line = expect.stringContaining(`frame-src ${fixture().world.service.url}`);
    await expect.poll(() => tab.callbacks()).toEqual([['error', 'frame_blocked', line]]);
  });

  test('reports a form that cannot be reached', async () => {
    const tab = await open();
    await tab.mount({ frameOrigin: 'http://localhost:9/embed', loadTimeout: 300 });
    await expect
      .poll(() => tab.callbacks())
      .toEqual([['error', 'frame_unreachable', expect.stringContaining('localhost:9')]]);
  });
}

const count = (requests: string[]): number => requests.filter((request) => request === 'POST /session').length;

async function createConnector(world: World): Promise<string> {
  const config = { settings: { org_url: ORG_URL }, secrets: { api_key: { value: TOKEN } } };
  const { body } = await world.call('POST', `/v2/${world.team}/inputs`, {
    name: 'Okta',
    type: 'okta-systemlog',
    config,
  });
  return String(body['id']);
}

/** Creates a session whose API key can be revoked, as an operator may do while forms are open. */
async function createRevocableSession(world: World): Promise<{ sessionToken: string; revoke(): Promise<void> }> {
  const { service, team, call } = world;
  const permissions = ['sessions:create', 'read', 'write'];
  const { body: key } = await call('POST', `/v3/${team}/api-keys`, { name: 'short-lived', permissions });
  const minted = await fetch(`${service.url}/v3/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': String(key['key']), 'content-type': 'application/json' },
    body: JSON.stringify({ organization_id: team }),
  });
  const { session_token: sessionToken } = (await minted.json()) as { session_token: string };
  return {
    sessionToken,
    async revoke() {
      await call('DELETE', `/v3/${team}/api-keys/${String(key['id'])}`);
      const headers = { authorization: `Bearer ${sessionToken}` };
      const path = `${service.url}/v1/inputs/okta-systemlog`;
      await expect.poll(async () => (await fetch(path, { headers })).status).toBe(401);
    },
  };
}
