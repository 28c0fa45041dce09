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
  ['an id that climbs out of the path', '..'],
  ['a mistake in it', new Error('database is down: password=hunter2')],
];

describe.each(routes)('%s', (_, request) => {
  test('another customer’s tenant is 403, and the service hears nothing (S06)', async () => {
    expect(await outcome(hosts.create()(request('globex')))).toEqual([403, 'forbidden']);
    expect(hosts.seen).toEqual([]);
  });

  test.each(refusals)('%s refuses', async (_, answer) => {
    const options: object = { authorizeTenant: () => (answer instanceof Error ? Promise.reject(answer) : answer) };
    const response = await hosts.create(options)(request('acme'));
    expect(await response.clone().text()).not.toContain('hunter2');
    expect(await outcome(Promise.resolve(response))).toEqual([403, 'forbidden']);
    expect(hosts.seen).toEqual([]);
  });

  test('a thrown HostError chooses the answer', async () => {
    const refusal = new HostError('unauthenticated', 'Sign in first.');
    const response = await hosts.create({ authorizeTenant: () => Promise.reject(refusal) })(request('acme'));
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ code: 'unauthenticated', message: 'Sign in first.' });
    expect([hosts.seen, hosts.onError.mock.calls]).toEqual([[], []]);
  });
});

test('a mistake in it is reported; it gets the framework’s context', async () => {
  const authorizeTenant = vi.fn<HostOptions['authorizeTenant']>(() => Promise.reject(new Error('oops')));
  await hosts.create({ authorizeTenant })(post('/api/session', { tenantId: 'acme' }), { user: 7 });
  expect(authorizeTenant).toHaveBeenCalledWith(expect.any(Request), 'acme', { user: 7 });
  expect(hosts.onError.mock.calls[0]?.[0]).toMatchObject({ message: 'oops' });
});
