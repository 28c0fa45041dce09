import { describe, expect, it } from 'vitest';
import { exampleConnector } from '../testing/example-type.js';
import { json, errorResponse } from '../testing/fake-service.js';
import { fillIn, openedForm } from '../testing/open-form.js';

describe('issues of the service', () => {
  it('are displayed on their fields until those are edited', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
    fillIn(opened);
    const issues = [{ path: '/settings/org_url', code: 'pattern', message: 'This organization does not exist.' }];
    service.next.push(errorResponse(400, 'invalid_config', { issues }));
    await form.save();
    expect(form.error('/settings/org_url')).toBe('This organization does not exist.');
    expect(form.summary).toHaveLength(1);
    expect(form.state).toMatchObject({ phase: 'editing', saving: false });
    expect(form.state).not.toHaveProperty('failure');
    expect(posted.at(-1)).toMatchObject({ type: 'error', code: 'save_failed' });
    form.setValue('/settings/start', 'all');
    expect(form.error('/settings/org_url')).toBe('This organization does not exist.');
    form.setValue('/settings/org_url', 'https://other.okta.com');
    expect(form.error('/settings/org_url')).toBeUndefined();
    expect(form.summary).toHaveLength(0);
  });

  it('are a general failure if no field matches', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(errorResponse(400, 'invalid_config', { issues: [{ path: '/name', code: 'max_length' }] }));
    await opened.form.save();
    expect(opened.form.state).toMatchObject({ failure: { code: 'save_failed' } });
  });

  it('require a secret again if the service rejects its destination', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/start', 'all');
    form.setValue('/settings/since', '2026-11-12T08:30:00Z');
    service.next.push(
      errorResponse(422, 'secret_reentry_required', { issues: [{ path: '/secrets/token', code: 'required' }] }),
    );
    await form.save();
    expect(form.secret('/secrets/token')).toMatchObject({ state: 'reentry' });
    expect(form.error('/secrets/token')).toContain('Enter it again');
    form.setValue('/secrets/token', 'tok-456');
    await form.save();
    expect(service.calls.at(-1)?.body).toMatchObject({ config: { secrets: { token: { value: 'tok-456' } } } });
    expect(form.state.phase).toBe('saved');
  });

  it.each([
    ['secret_destination_mismatch', 'is not sent. Enter it again'],
    ['secret_unreadable', 'can\u2019t be read any more. Enter it again'],
  ])('require a secret again that the service cannot use (%s)', async (type, sentence) => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/page_size', '10');
    service.next.push(errorResponse(422, type, { issues: [{ path: '/secrets/token', code: 'required' }] }));
    await form.save();
    expect(form.secret('/secrets/token')).toMatchObject({ state: 'reentry' });
    expect(form.error('/secrets/token')).toContain(sentence);
  });

  it('are reported to the host without entered values', async () => {
    const opened = await openedForm();
    fillIn(opened);
    const issues = [{ path: '/secrets/token', code: 'pattern' }];
    opened.service.next.push(errorResponse(400, 'invalid_config', { issues }), errorResponse(500, 'tok-123'));
    await opened.form.save();
    opened.form.setValue('/secrets/token', 'tok-456');
    await opened.form.save();
    expect(JSON.stringify(opened.posted)).not.toMatch(/tok-|key-123/);
  });
});

describe('editing', () => {
  it('sends only changes, with the loaded version', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1', isNameEditable: true });
    form.setValue('/name', 'Okta staging');
    await form.save();
    expect(service.calls[0]).toMatchObject({
      method: 'PATCH',
      path: 'http://service.test/v2/org%201/inputs/con_1',
      body: { name: 'Okta staging' },
    });
    expect(service.calls[0]?.headers.get('if-match')).toBe('"3"');
  });

  it('sends all settings if one changed, and no kept secret', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/headers/0/value', 'blue');
    form.setValue('/settings/page_size', '');
    await form.save();
    expect(service.calls[0]?.body).toEqual({
      config: {
        settings: {
          org_url: 'https://acme.okta.com',
          start: 'now',
          regions: ['eu'],
          headers: { 'X-Team': 'blue' },
          auth: { type: 'token' },
        },
      },
    });
  });

  it.each([
    [{ name: 'Renamed' }, { name: 'Renamed' }],
    [{ description: '' }, { description: '' }],
    [{ name: 'Okta production' }, undefined],
  ])('keeps a name or description that the host does not set: %j', async (init, body) => {
    const { form, service, posted } = await openedForm({ existingId: 'con_1', ...init });
    await form.save();
    expect(service.calls[0]?.body).toEqual(body);
    expect(posted.at(-1)).toMatchObject({ type: 'saved', connector: { id: 'con_1' } });
  });

  it('rejects clearing a required secret, and sends a replaced one', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.replaceSecret('/secrets/token');
    form.setValue('/secrets/token', 'tok-456');
    form.clearSecret('/secrets/signing_key');
    await form.save();
    expect(form.error('/secrets/signing_key')).toBe('Enter the signing key');
    form.keepSecret('/secrets/signing_key');
    await form.save();
    expect(service.calls[0]?.body).toEqual({ config: { secrets: { token: { value: 'tok-456' } } } });
  });

  it('after a version conflict, reload applies the edits to the latest version', async () => {
    const { form, service, posted } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/regions/0', 'us');
    form.replaceSecret('/secrets/token');
    form.setValue('/secrets/token', 'tok-456');
    service.next.push(errorResponse(412, 'precondition_failed'));
    await form.save();
    expect(form.state).toMatchObject({ failure: { code: 'save_failed', action: 'reload' } });
    expect(posted.at(-1)).toMatchObject({ type: 'error', code: 'save_failed' });

    const settings = { ...exampleConnector.config.settings, page_size: 50, org_url: 'https://acme.okta.com' };
    const fresh = {
      ...exampleConnector,
      name: 'Renamed',
      version: 4,
      config: { ...exampleConnector.config, settings },
    };
    service.next.push(json(fresh, 200, { etag: '"4"' }));
    await form.retry();
    expect(form.state).not.toHaveProperty('failure');
    expect([form.value('/settings/page_size'), form.value('/settings/regions/0')]).toEqual([50, 'us']);
    await form.save();
    expect(service.calls.at(-1)?.headers.get('if-match')).toBe('"4"');
    expect(service.calls.at(-1)?.body).toMatchObject({
      config: { settings: { page_size: 50, regions: ['us'] }, secrets: { token: { value: 'tok-456' } } },
    });
  });
});

describe('a refused save while a secret is being entered (S37)', () => {
  it('stays rejected until the next save, even if the secret becomes valid', async () => {
    const opened = await openedForm();
    fillIn(opened);
    const { form } = opened;
    form.setValue('/secrets/token', '');
    await form.save();
    expect([form.rejected, form.summary.map(({ path }) => path)]).toEqual([true, ['/secrets/token']]);
    form.setValue('/secrets/token', 'tok-123');
    expect([form.rejected, form.summary]).toEqual([true, []]);
    await form.save();
    expect([form.rejected, form.state.phase]).toEqual([false, 'saved']);
  });

  it('lists all secrets that are being entered, valid or not, and no kept one', async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    expect(form.secretEntries().map(({ path }) => path)).toEqual(['/secrets/extra']);
    form.replaceSecret('/secrets/token');
    form.addRow('/secrets/extra');
    expect(form.secretEntries().map(({ path }) => path)).toEqual([
      '/secrets/token',
      '/secrets/extra',
      '/secrets/extra/0/key',
      '/secrets/extra/0/value',
    ]);
  });
});
