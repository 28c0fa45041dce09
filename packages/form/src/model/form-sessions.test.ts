import { describe, expect, it, vi } from 'vitest';
import { errorResponse } from '../testing/fake-service.js';
import { fillIn, openedForm, openForm } from '../testing/open-form.js';

describe('an expired session', () => {
  it('is renewed by the host, and the save is sent once', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
    fillIn(opened);
    opened.hostRepliesWith('second-token');
    service.next.push(errorResponse(401, 'token_expired'));
    await form.save();
    expect(service.calls.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer first-token',
      'Bearer second-token',
    ]);
    expect(new Set(service.calls.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(posted.map(({ type }) => type)).toEqual(['loaded', 'dirty', 'session_request', 'dirty', 'saved']);
  });

  it('keeps the input if the host does not renew it, and can be requested again', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
    fillIn(opened);
    service.next.push(errorResponse(401, 'token_expired'));
    await form.save();
    expect(form.state).toMatchObject({
      phase: 'editing',
      saving: false,
      expired: true,
      failure: { code: 'session_expired' },
    });
    await vi.waitFor(() => expect(posted.at(-1)).toMatchObject({ type: 'error', code: 'session_expired' }));
    expect(form.value('/secrets/token')).toBe('tok-123');

    opened.hostRepliesWith('second-token');
    await form.retry();
    expect(form.state).toMatchObject({ expired: false });
    await form.save();
    expect(form.state.phase).toBe('saved');
  });

  it('is shown before the host has answered, and a late token continues the save once', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
    fillIn(opened);
    service.next.push(errorResponse(401, 'token_expired'));
    await form.save();
    expect(form.state).toMatchObject({ saving: false, expired: true });
    expect(posted.at(-1)).toMatchObject({ type: 'session_request' });
    opened.session.receive('late-token');
    form.sessionRenewed();
    expect(form.state).toMatchObject({ expired: false });
    expect(form.state).not.toHaveProperty('failure');
    await vi.waitFor(() => expect(form.state.phase).toBe('saved'));
    expect(service.calls.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer first-token',
      'Bearer late-token',
    ]);
    expect(posted.filter(({ type }) => type === 'error')).toEqual([]);
  });

  it('does not save by itself what the user has changed since', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    service.next.push(errorResponse(401, 'token_expired'));
    await form.save();
    form.setValue('/settings/org_url', 'https://other.okta.com');
    opened.session.receive('late-token');
    form.sessionRenewed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(form.state).toMatchObject({ phase: 'editing', saving: false, expired: false });
    expect(service.calls).toHaveLength(1);
  });

  it('loads the form by itself once a late token arrives', async () => {
    const opened = openForm();
    const { form, service } = opened;
    service.next.push(...[1, 2].map(() => errorResponse(401, 'token_expired')));
    await opened.loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'session_expired' } });
    opened.session.receive('late-token');
    form.sessionRenewed();
    await vi.waitFor(() => expect(form.state.phase).toBe('editing'));
  });

  it('is not reported as expired if the service also rejects the renewed one', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.hostRepliesWith('second-token');
    opened.service.next.push(errorResponse(401, 'invalid_token'), errorResponse(401, 'invalid_token'));
    await opened.form.save();
    expect(opened.form.state).toMatchObject({ expired: false, failure: { code: 'unauthorized' } });
    expect(opened.service.calls).toHaveLength(2);
  });
});

describe('testing', () => {
  it('reports its result and duration until the next edit', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    await form.test();
    expect(service.calls[0]).toMatchObject({
      method: 'POST',
      path: 'http://service.test/v2/org%201/inputs/test-connection',
    });
    expect(service.calls[0]?.body).toMatchObject({
      type: 'okta-systemlog',
      config: { secrets: { token: { value: 'tok-123' } } },
    });
    expect(form.state).toMatchObject({ test: { state: 'passed', summary: 'Read 1 event', durationMs: 412 } });
    form.setValue('/settings/org_url', 'https://other.okta.com');
    expect(form.state).toMatchObject({ test: { state: 'idle' } });
  });

  it('uses the kept secrets of the connector', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    await form.test();
    expect(service.calls[0]?.body).toMatchObject({ id: 'con_1', config: { secrets: {} } });
  });

  it('displays the service\u2019s reason on the field it belongs to', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
    fillIn(opened);
    const issues = [{ path: '/secrets/token', code: 'pattern', message: 'Okta refused this token.' }];
    service.next.push(errorResponse(400, 'test_failed', { reason: 'unauthorized', hint: 'Make a new one.', issues }));
    await form.test();
    expect(form.state).toMatchObject({
      test: {
        state: 'failed',
        failure: { code: 'test_failed', message: 'Rejected: test_failed', hint: 'Make a new one.' },
      },
    });
    expect(form.error('/secrets/token')).toBe('Okta refused this token.');
    expect(posted.at(-1)).toMatchObject({ type: 'error', code: 'test_failed' });
  });

  it('says a failed test once, and does not count it as something to fix before saving', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    const message = 'Rejected: test_failed';
    const issues = ['/secrets/token', '/settings/page_size'].map((path) => ({ path, code: 'pattern', message }));
    service.next.push(errorResponse(400, 'test_failed', { reason: 'unauthorized', issues }));
    await form.test();
    expect(form.state).toMatchObject({ test: { state: 'failed', failure: { message } } });
    expect([form.rejected, form.summary]).toEqual([false, []]);
    // The fields are pointed out in their own words.
    expect(form.error('/secrets/token')).toBe('Check the API token');
    expect(form.error('/settings/page_size')).toBe('Check the page size');
    await form.save();
    expect(form.state.phase).toBe('saved');
  });

  it('lists what also prevents a save, and says nothing else about it', async () => {
    const opened = await openedForm({ existingId: 'con_1' });
    const { form, service } = opened;
    const issues = [{ path: '/secrets/token', code: 'required' }];
    service.next.push(errorResponse(422, 'secret_reentry_required', { issues }));
    await form.test();
    expect(form.state).toMatchObject({ test: { state: 'idle' } });
    expect(form.summary).toMatchObject([{ path: '/secrets/token' }]);
  });

  it('does not keep the result of a test beside what a later save or test says', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    service.next.push(errorResponse(400, 'test_failed'));
    await form.test();
    expect(form.state).toMatchObject({ test: { state: 'failed' } });
    form.setValue('/settings/org_url', '');
    await form.save();
    expect(form.state).toMatchObject({ test: { state: 'idle' } });
    expect(form.summary).toHaveLength(1);
  });

  it.each([
    [429, 'rate_limited', { limit: 'test' }, 'You tried this too often in a short time'],
    [429, 'rate_limited', { limit: 'session' }, 'You tried this too often in a short time'],
    [429, 'rate_limited', { limit: 'test_type' }, 'Your organization has reached its limit for now'],
    [429, 'rate_limited', {}, 'The service is busy'],
    [503, 'unavailable', {}, 'The service is busy'],
    [500, 'internal_error', {}, 'The connection could not be tested'],
    [400, 'invalid_request', {}, 'The connection could not be tested'],
    [400, 'egress_refused', {}, 'Rejected: egress_refused'],
  ])('%i %s %j: %s', async (status, type, details, message) => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    const response = (): Response => errorResponse(status, type, details, { 'retry-after': '60' });
    service.next.push(response());
    await form.test();
    expect(form.state).toMatchObject({ test: { state: 'failed', failure: { code: 'test_failed', message } } });
  });

  it('is not started with invalid input', async () => {
    const { form, service } = await openedForm();
    await form.test();
    expect(service.calls).toHaveLength(0);
    expect(form.summary.length).toBeGreaterThan(0);
  });
});

it('reports a cancel to the host, and whether there are unsaved edits', async () => {
  const { form, posted } = await openedForm({ existingId: 'con_1' });
  expect(form.dirty).toBe(false);
  form.setValue('/settings/start', 'all');
  expect(form.dirty).toBe(true);
  form.setValue('/settings/start', 'now');
  expect(form.dirty).toBe(false);
  form.clearSecret('/secrets/token');
  expect(form.dirty).toBe(true);
  form.keepSecret('/secrets/token');
  form.cancel();
  expect(posted.at(-1)).toEqual({ source: 'monad-embed', type: 'cancel' });
});

const openOffline = async () => {
  const opened = await openedForm({}, { online: () => false });
  fillIn(opened);
  opened.service.next.push(new TypeError('Failed to fetch'));
  return opened;
};

describe('being offline', () => {
  it.each(['save', 'test'] as const)('is no longer reported after a %s once the browser is online', async (action) => {
    const { form } = await openOffline();
    await form[action]();
    expect(JSON.stringify(form.state)).toContain('You are offline');
    form.online();
    expect(JSON.stringify(form.state)).not.toContain('You are offline');
    expect(form.state).toMatchObject({ phase: 'editing', saving: false });
  });

  it('is no longer reported after a successful request', async () => {
    const { form } = await openOffline();
    await form.save();
    await form.test();
    expect(form.state).toMatchObject({ test: { state: 'passed' } });
    expect(form.state).not.toHaveProperty('failure');
  });

  it('ends with the form, which loads by itself', async () => {
    const opened = openForm({}, { online: () => false });
    opened.service.next.push(new TypeError('Failed to fetch'));
    await opened.loaded;
    expect(opened.form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'offline' } });
    opened.form.online();
    await vi.waitFor(() => expect(opened.form.state.phase).toBe('editing'));
  });

  it('is the only failure that ends so', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(errorResponse(500, 'internal_error'));
    await opened.form.save();
    opened.form.online();
    expect(opened.form.state).toMatchObject({ failure: { code: 'save_failed' } });
  });
});
