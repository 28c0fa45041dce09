import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HostError } from './host-error.js';
import { get, outcome, post, startHost } from '../../../test/support/start-host.js';
import type { HostOptions } from './host-options.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

const routes: [name: string, request: (tenant: string) => Request][] = [
  ['session', (tenantId) => post('/api/session', { tenantId })],
  ['build-pipeline', (tenantId) => post('/api/build-pipeline', { tenantId, inputId: 'i-1', inputName: 'Web' })],
  [
    'integration-action',
    (tenantId) => post('/api/integration-action', { tenantId, inputId: 'i-1', action: 'delete', cleanup: 'full' }),
  ],
  ['connectors', (tenantId) => get(`/api/connectors?kind=input&tenantId=${tenantId}`)],
];

/** A host written in JavaScript may return anything. */
const refusals: [what: string, answer: string | null | undefined | boolean | Error][] = [
  ['null', null],
  ['undefined', undefined],
  ['false', false],
  ['an empty string', ''],
  ['true', true],
  ['an ID with path traversal', '..'],
  ['an unexpected error', new Error('database is down: password=hunter2')],
];

describe.each(routes)('%s', (_, request) => {
  test('returns 403 for the tenant of another customer without calling the service (S06)', async () => {
    expect(await outcome(hosts.create()(request('globex')))).toEqual([403, 'forbidden']);
    expect(hosts.seen).toEqual([]);
  });

  test.each(refusals)('returns 403 if authorizeTenant yields %s', async (_, answer) => {
    const options: object = { authorizeTenant: () => (answer instanceof Error ? Promise.reject(answer) : answer) };
    const response = await hosts.create(options)(request('acme'));
    expect(await response.clone().text()).not.toContain('hunter2');
    expect(await outcome(Promise.resolve(response))).toEqual([403, 'forbidden']);
    expect(hosts.seen).toEqual([]);
  });

  test('returns the status, code and message of a thrown HostError', async () => {
    const refusal = new HostError('unauthenticated', 'Sign in first.');
    const response = await hosts.create({ authorizeTenant: () => Promise.reject(refusal) })(request('acme'));
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ code: 'unauthenticated', message: 'Sign in first.' });
    expect([hosts.seen, hosts.onError.mock.calls]).toEqual([[], []]);
  });
});

test('passes the context of the framework to authorizeTenant and reports its errors to onError', async () => {
  const authorizeTenant = vi.fn<HostOptions['authorizeTenant']>(() => Promise.reject(new Error('oops')));
  await hosts.create({ authorizeTenant })(post('/api/session', { tenantId: 'acme' }), { user: 7 });
  expect(authorizeTenant).toHaveBeenCalledWith(expect.any(Request), 'acme', { user: 7 });
  expect(hosts.onError.mock.calls[0]?.[0]).toMatchObject({ message: 'oops' });
});
