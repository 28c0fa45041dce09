import { describe, expect, it } from 'vitest';
import { fillIn, openedForm } from '../testing/open-form.js';

const counter = () => {
  let count = 0;
  return { count: () => count, listener: () => void (count += 1) };
};

describe('values', () => {
  it('start with the defaults of the type', async () => {
    const { form } = await openedForm();
    expect(form.value('/settings/page_size')).toBe(100);
    expect(form.value('/settings/start')).toBe('now');
    expect(form.value('/settings/auth')).toEqual({ type: 'token' });
    expect(form.value('/settings/org_url')).toBeUndefined();
  });

  it('notify only the listeners of their own path', async () => {
    const { form } = await openedForm();
    const [own, other, all] = [counter(), counter(), counter()];
    const stop = form.subscribe('/settings/org_url', own.listener);
    form.subscribe('/settings/proxy/host', other.listener);
    form.subscribe('*', all.listener);
    form.setValue('/settings/org_url', 'h');
    form.setValue('/settings/org_url', 'h');
    form.setValue('/settings/org_url', 'ht');
    stop();
    form.setValue('/settings/org_url', 'htt');
    expect([own.count(), other.count(), all.count()]).toEqual([2, 0, 0]);
  });

  it('are never written through a prototype', async () => {
    const { form } = await openedForm();
    form.setValue('/settings/__proto__/polluted', 'x');
    form.setValue('/__proto__/polluted', 'x');
    form.setValue('/settings/constructor/prototype/polluted', 'x');
    expect({}).not.toHaveProperty('polluted');
    expect(form.value('/settings/__proto__/polluted')).toBeUndefined();
  });

  it('notify no other field while errors are shown', async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/proxy/host', 'not a host');
    form.leave('/settings/proxy/host');
    expect(form.error('/settings/proxy/host')).toBeDefined();
    const [own, invalid] = [counter(), counter()];
    form.subscribe('/settings/org_url', own.listener);
    form.subscribe('/settings/proxy/host', invalid.listener);
    for (let round = 0; round < 20; round += 1) form.setValue('/settings/org_url', `https://acme-${round}.okta.com`);
    expect([own.count(), invalid.count()]).toEqual([20, 0]);
  });
});

describe('conditions', () => {
  it('show a field while they hold, and notify it', async () => {
    const { form } = await openedForm();
    const since = counter();
    form.subscribe('/settings/since', since.listener);
    expect(form.shown('/settings/since')).toBe(false);
    form.setValue('/settings/start', 'all');
    expect(form.shown('/settings/since')).toBe(true);
    expect(since.count()).toBe(1);
    await form.save();
    expect(form.error('/settings/since')).toBe('Enter the since');
    form.setValue('/settings/start', 'now');
    expect(form.summary.map(({ path }) => path)).not.toContain('/settings/since');
  });

  it('apply to secrets of a variant', async () => {
    const { form } = await openedForm();
    const token = counter();
    form.subscribe('/secrets/token', token.listener);
    expect(form.shown('/secrets/token')).toBe(true);
    form.setValue('/settings/auth/type', 'oauth');
    expect(form.shown('/secrets/token')).toBe(false);
    expect(token.count()).toBe(1);
  });

  it('omit hidden values from the write and keep them in the form', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    form.setValue('/settings/start', 'all');
    form.setValue('/settings/since', '2026-11-12T08:30:00Z');
    form.setValue('/settings/start', 'now');
    expect(form.value('/settings/since')).toBe('2026-11-12T08:30:00Z');
    await form.save();
    expect(service.calls[0]?.body).not.toHaveProperty('config.settings.since');
  });
});

describe('variants', () => {
  it('start with their defaults and keep the input of the other variants', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    form.setValue('/settings/auth/type', 'oauth');
    expect(form.value('/settings/auth/oauth/scope')).toBe('logs.read');
    form.setValue('/settings/auth/oauth/client_id', 'app-1');
    form.setValue('/settings/auth/type', 'token');
    form.setValue('/settings/auth/type', 'oauth');
    expect(form.value('/settings/auth/oauth/client_id')).toBe('app-1');
    await form.save();
    expect(service.calls[0]?.body).toMatchObject({
      config: { settings: { auth: { type: 'oauth', oauth: { client_id: 'app-1', scope: 'logs.read' } } } },
    });
    expect(service.calls[0]?.body).not.toHaveProperty('config.secrets.token');
  });

  it('validate only the selected variant', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.form.setValue('/settings/auth/type', 'oauth');
    await opened.form.save();
    expect(opened.form.summary).toMatchObject([{ path: '/settings/auth/oauth/client_id', label: 'Client ID' }]);
  });
});

describe('rows', () => {
  it('of a list can be added and removed; blank ones are not sent', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    form.addRow('/settings/regions');
    form.addRow('/settings/regions');
    form.setValue('/settings/regions/2', 'us');
    form.removeRow('/settings/regions', 0);
    expect(form.value('/settings/regions')).toEqual(['', 'us']);
    form.addRow('/settings/filters');
    expect(form.value('/settings/filters/0')).toEqual({ limit: 5 });
    form.setValue('/settings/filters/0/field', 'actor');
    form.setValue('/settings/filters/0/limit', ' 2.5 ');
    await form.save();
    expect(service.calls[0]?.body).toMatchObject({
      config: { settings: { regions: ['us'], filters: [{ field: 'actor', limit: 2.5 }] } },
    });
  });

  it('have their own errors, which do not move to another row', async () => {
    const opened = await openedForm();
    const { form } = opened;
    fillIn(opened);
    form.addRow('/settings/regions');
    form.setValue('/settings/regions/1', 'x');
    form.leave('/settings/regions/1');
    expect(form.error('/settings/regions/1')).toBe('Use at least 2 characters');
    form.addRow('/settings/regions');
    form.setValue('/settings/regions/2', 'us');
    form.removeRow('/settings/regions', 1);
    expect(form.value('/settings/regions/1')).toBe('us');
    expect(form.error('/settings/regions/1')).toBeUndefined();
    form.setValue('/settings/regions/1', 'eu');
    await form.save();
    expect(form.summary).toMatchObject([
      { path: '/settings/regions/1', label: 'Regions 2', message: 'This is already in use above' },
    ]);
  });

  it('of a map keep their order and may lack a name until they are saved', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    for (const [index, [key, value]] of [
      ['b', '1'],
      ['', '2'],
      ['b', '3'],
      ['c', ''],
    ].entries()) {
      form.addRow('/settings/headers');
      form.setValue(`/settings/headers/${index}/key`, key);
      form.setValue(`/settings/headers/${index}/value`, value);
    }
    await form.save();
    expect(form.summary.map(({ path, message }) => [path, message])).toEqual([
      ['/settings/headers/1/key', 'Enter a name'],
      ['/settings/headers/2/key', 'This is already in use above'],
      ['/settings/headers/3/value', 'Enter a value'],
    ]);
    form.setValue('/settings/headers/1/key', ' a ');
    form.setValue('/settings/headers/2/key', 'd');
    form.setValue('/settings/headers/3/value', '4');
    expect(form.summary).toEqual([]);
    await form.save();
    expect(service.calls[0]?.body).toMatchObject({
      config: { settings: { headers: { a: '2', b: '1', c: '4', d: '3' } } },
    });
  });

  it('of a secret map are one secret', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    form.addRow('/secrets/extra');
    expect(form.secret('/secrets/extra').state).toBe('empty');
    form.setValue('/secrets/extra/0/key', 'X-Key');
    form.setValue('/secrets/extra/0/value', 'abc');
    expect(form.secret('/secrets/extra').state).toBe('typing');
    await form.save();
    expect(service.calls[0]?.body).toMatchObject({ config: { secrets: { extra: { value: { 'X-Key': 'abc' } } } } });
  });
});

describe('leaving a field', () => {
  it('normalizes pasted text', async () => {
    const { form } = await openedForm();
    form.setValue('/settings/org_url', '  acme.okta.com \n');
    form.leave('/settings/org_url');
    expect(form.value('/settings/org_url')).toBe('https://acme.okta.com');
    form.setValue('/settings/page_size', ' 12 ');
    form.leave('/settings/page_size');
    expect(form.value('/settings/page_size')).toBe(12);
    form.setValue('/secrets/token', ' tok\n');
    form.leave('/secrets/token');
    expect(form.value('/secrets/token')).toBe('tok');
  });

  it('shows an error until the value is valid', async () => {
    const { form } = await openedForm();
    form.setValue('/settings/page_size', '5000');
    expect(form.error('/settings/page_size')).toBeUndefined();
    form.leave('/settings/page_size');
    expect(form.error('/settings/page_size')).toBe('Use a number from 1 to 1000');
    form.setValue('/settings/page_size', '50');
    expect(form.error('/settings/page_size')).toBeUndefined();
  });

  it('hides the error while the user types, without a new one', async () => {
    const { form } = await openedForm();
    form.setValue('/settings/org_url', ' ');
    form.leave('/settings/org_url');
    expect(form.error('/settings/org_url')).toBe('Enter the organization URL');
    form.setValue('/settings/org_url', 'x y');
    expect(form.error('/settings/org_url')).toBeUndefined();
  });

  it('shows no error for an untouched field', async () => {
    const { form } = await openedForm();
    form.leave('/settings/org_url');
    expect(form.error('/settings/org_url')).toBeUndefined();
  });
});

describe('secrets', () => {
  it('must be entered again while any field of the destination is changed', async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    const token = counter();
    form.subscribe('/secrets/token', token.listener);
    form.setValue('/settings/start', 'all');
    expect([form.secret('/secrets/token').state, token.count()]).toEqual(['kept', 0]);
    form.setValue('/settings/proxy/host', 'proxy.example');
    expect([form.secret('/secrets/token').state, token.count() > 0]).toEqual(['reentry', true]);
    await form.save();
    expect(form.error('/secrets/token')).toContain('Enter it again');
    form.setValue('/settings/proxy/host', '');
    expect(form.secret('/secrets/token').state).toBe('kept');
    expect(form.error('/secrets/token')).toBeUndefined();
    expect(form.summary).not.toContainEqual(expect.objectContaining({ path: '/secrets/token' }));
  });

  it('that are being replaced can be restored', async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    form.replaceSecret('/secrets/token');
    form.setValue('/secrets/token', 'tok');
    form.setValue('/secrets/token', '');
    expect(form.secret('/secrets/token').state).toBe('typing');
    await form.save();
    expect(form.error('/secrets/token')).toBe('Enter the new API token, or undo to keep the saved one');
    form.keepSecret('/secrets/token');
    expect(form.error('/secrets/token')).toBeUndefined();
    expect(form.value('/secrets/token')).toBeUndefined();
  });

  it('reject mask characters', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.form.setValue('/secrets/token', '••••••••');
    await opened.form.save();
    expect(opened.form.error('/secrets/token')).toBe('These are only dots. Paste the real value.');
  });
});
