import { describe, expect, it } from 'vitest';
import { errorResponse } from '../testing/fake-service.js';
import { fillIn, openedForm } from '../testing/open-form.js';

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
    expect(posted.map(({ type }) => type)).toEqual(['loaded', 'session_request', 'saved']);
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
    expect(posted.at(-1)).toMatchObject({ type: 'error', code: 'session_expired' });
    expect(form.value('/secrets/token')).toBe('tok-123');

    opened.hostRepliesWith('second-token');
    await form.retry();
    expect(form.state).toMatchObject({ expired: false });
    await form.save();
    expect(form.state.phase).toBe('saved');
  });

  it('is no longer reported once a late token arrives', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(errorResponse(401, 'token_expired'));
    await opened.form.save();
    opened.session.receive('late-token');
    opened.form.sessionRenewed();
    expect(opened.form.state).toMatchObject({ expired: false });
    expect(opened.form.state).not.toHaveProperty('failure');
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
  form.cancel();
  expect(posted.at(-1)).toEqual({ source: 'monad-embed', type: 'cancel' });
});
