import { describe, expect, it } from 'vitest';
import { exampleConnector, exampleType } from '../testing/example-type.js';
import { json, refusal } from '../testing/fake-service.js';
import { fillIn, openedForm, openForm } from '../testing/open-form.js';

const lost = (): Error => new TypeError('Failed to fetch');

describe('loading', () => {
  it('asks for the type alone, and shows it', async () => {
    const { form, service, told, loaded } = openForm();
    expect(form.state).toEqual({ phase: 'loading' });
    await loaded;
    expect(service.calls.map(({ path }) => path)).toEqual(['http://service.test/v1/inputs/okta-systemlog']);
    expect(service.calls[0]?.headers.get('authorization')).toBe('Bearer first-token');
    expect(service.calls[0]?.headers.get('connector-frame-parent')).toBe('https://host.test');
    expect(form.state).toMatchObject({
      phase: 'editing',
      saving: false,
      subject: {
        mode: 'create',
        title: 'Okta System Log',
        subtitle: exampleType.description,
        monogram: 'OS',
        canTest: true,
      },
    });
    expect(told).toEqual([{ source: 'monad-embed', type: 'loaded' }]);
  });

  it('asks for type and connector on edit, and shows what is saved', async () => {
    const { form, service, loaded } = openForm({ existingId: 'con 1', displayName: 'Okta' });
    await loaded;
    expect(service.calls.map(({ path }) => path)).toEqual([
      'http://service.test/v1/inputs/okta-systemlog',
      'http://service.test/v1/org%201/inputs/con%201',
    ]);
    expect(form.state).toMatchObject({ subject: { mode: 'edit', title: 'Okta', subtitle: 'Created 12 Nov 2026' } });
    expect(form.value('/settings/org_url')).toBe('https://acme.okta.com');
    expect(form.value('/settings/headers')).toEqual([{ key: 'X-Team', value: 'security' }]);
    expect(form.secret('/secrets/token')).toMatchObject({ state: 'kept', kept: { id: 'sec_1', name: 'API token' } });
    expect(form.secret('/secrets/extra')).toEqual({ state: 'empty' });
  });

  it.each([
    [404, 'not_found', 'type_not_found', false],
    [403, 'forbidden', 'unauthorized', false],
    [500, 'internal_error', 'load_failed', true],
  ])('a %i says what to do, and tells the host', async (status, type, code, canRetry) => {
    const { form, service, told, loaded } = openForm();
    service.next.push(refusal(status, type));
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', canRetry, failure: { code } });
    expect(told).toMatchObject([{ type: 'error', code }]);
  });

  it('tells a connector that is gone from a type that is', async () => {
    const { form, service, loaded } = openForm({ existingId: 'con_1' });
    service.next.push(undefined, refusal(404, 'not_found'));
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'connector_not_found' } });
  });

  it('loads again on retry', async () => {
    const { form, service, loaded } = openForm();
    service.next.push(refusal(500, 'internal_error'));
    await loaded;
    await form.retry();
    expect(form.state.phase).toBe('editing');
  });

  it('says so when there is no network', async () => {
    const { form, service, loaded } = openForm({}, { online: () => false });
    service.next.push(lost());
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'offline' }, canRetry: true });
    expect(service.calls).toHaveLength(1);
  });
});

describe('creating', () => {
  it('sends what was filled in, once, and tells the host', async () => {
    const opened = await openedForm();
    const { form, service, told } = opened;
    fillIn(opened);
    await Promise.all([form.save(), form.save()]);
    expect(service.calls).toHaveLength(1);
    expect(service.calls[0]).toMatchObject({ method: 'POST', path: 'http://service.test/v2/org%201/inputs' });
    expect(service.calls[0]?.headers.get('idempotency-key')).toMatch(/^[\da-f]{32}$/);
    expect(service.calls[0]?.body).toEqual({
      name: 'Okta System Log i000',
      description: exampleType.description,
      type: 'okta-systemlog',
      config: {
        settings: {
          page_size: 100,
          org_url: 'https://acme.okta.com',
          start: 'now',
          regions: ['eu'],
          auth: { type: 'token' },
        },
        secrets: { token: { value: 'tok-123' }, signing_key: { value: 'key-123' } },
      },
    });
    expect(form.state.phase).toBe('saved');
    expect(told.at(-1)).toEqual({
      source: 'monad-embed',
      type: 'saved',
      connector: { id: 'con_1', name: 'Okta System Log i000' },
    });
  });

  it.each([
    [{ name: 'Mine' }, 'Mine', exampleType.description],
    [{ name: 'Mine', description: 'Ours' }, 'Mine', 'Ours'],
    [{ isNameEditable: true }, 'Okta System Log', exampleType.description],
    [{ isNameEditable: true, name: 'Mine' }, 'Mine', exampleType.description],
    [{ isDescriptionEditable: true, description: 'Ours' }, 'Okta System Log i000', 'Ours'],
  ])('names and describes it: %j', async (init, name, description) => {
    const opened = await openedForm(init);
    fillIn(opened);
    await opened.form.save();
    expect(opened.service.calls[0]?.body).toMatchObject({ name, description });
  });

  it('takes a name and a description that a person typed, and no blank name', async () => {
    const opened = await openedForm({ isNameEditable: true, isDescriptionEditable: true, description: 'Ours' });
    const { form, service } = opened;
    fillIn(opened);
    form.setValue('/name', '   ');
    form.leave('/name');
    expect(form.error('/name')).toBe('Enter the name');
    await form.save();
    expect(service.calls).toHaveLength(0);
    form.setValue('/name', ' Okta EU ');
    form.setValue('/description', '');
    await form.save();
    expect(service.calls[0]?.body).toMatchObject({ name: 'Okta EU', description: '' });
  });

  it('sends nothing that is wrong, and lists it in the order shown', async () => {
    const { form, service, told } = await openedForm();
    await form.save();
    expect(service.calls).toHaveLength(0);
    expect(form.summary.map(({ path, message }) => [path, message])).toEqual([
      ['/settings/org_url', 'Enter the organization URL'],
      ['/settings/regions', 'Add at least one entry to regions'],
      ['/secrets/token', 'Enter the API token'],
      ['/secrets/signing_key', 'Enter the signing key'],
    ]);
    expect(form.error('/settings/org_url')).toBe('Enter the organization URL');
    expect(form.state).toMatchObject({ phase: 'editing', saving: false });
    // What a person mistyped is no failure of the frame.
    expect(told.filter(({ type }) => type === 'error')).toEqual([]);
  });
});

describe('one write per intent', () => {
  it('repeats a write whose answer was lost with its key, and another content with another', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    service.next.push(lost(), lost(), lost(), lost());
    await form.save();
    expect(form.state).toMatchObject({ phase: 'editing', saving: false, failure: { code: 'save_failed' } });
    expect(form.value('/secrets/token')).toBe('tok-123');
    service.next.push(refusal(500, 'internal_error'));
    await form.save();
    const keys = (): (string | null)[] => service.calls.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toHaveLength(5);

    form.setValue('/settings/org_url', 'https://other.okta.com');
    await form.save();
    expect(new Set(keys()).size).toBe(2);
    expect(form.state.phase).toBe('saved');
  });

  it('takes a new key after a refusal that settled the matter', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(refusal(403, 'forbidden'));
    await opened.form.save();
    await opened.form.save();
    const [first, second] = opened.service.calls.map(({ headers }) => headers.get('idempotency-key'));
    expect(first).not.toBe(second);
  });
});

describe('refusals', () => {
  it('land on their fields, and stay until those are edited', async () => {
    const opened = await openedForm();
    const { form, service, told } = opened;
    fillIn(opened);
    const issues = [{ path: '/settings/org_url', code: 'pattern', message: 'This organization does not exist.' }];
    service.next.push(refusal(422, 'invalid_config', { issues }));
    await form.save();
    expect(form.error('/settings/org_url')).toBe('This organization does not exist.');
    expect(form.summary).toHaveLength(1);
    expect(form.state).toMatchObject({ phase: 'editing', saving: false });
    expect(form.state).not.toHaveProperty('failure');
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'save_failed' });
    form.setValue('/settings/start', 'all');
    expect(form.error('/settings/org_url')).toBe('This organization does not exist.');
    form.setValue('/settings/org_url', 'https://other.okta.com');
    expect(form.error('/settings/org_url')).toBeUndefined();
    expect(form.summary).toHaveLength(0);
  });

  it('of what stands on no field are said as such', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(refusal(422, 'invalid_config', { issues: [{ path: '/name', code: 'max_length' }] }));
    await opened.form.save();
    expect(opened.form.state).toMatchObject({ failure: { code: 'save_failed' } });
  });

  it('ask for a secret again that the service will not send where the form thought', async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/start', 'all');
    form.setValue('/settings/since', '2026-11-12T08:30:00Z');
    service.next.push(
      refusal(422, 'secret_reentry_required', { issues: [{ path: '/secrets/token', code: 'required' }] }),
    );
    await form.save();
    expect(form.secret('/secrets/token')).toMatchObject({ state: 'reentry' });
    expect(form.error('/secrets/token')).toContain('Enter it again');
    form.setValue('/secrets/token', 'tok-456');
    await form.save();
    expect(service.calls.at(-1)?.body).toMatchObject({ config: { secrets: { token: { value: 'tok-456' } } } });
    expect(form.state.phase).toBe('saved');
  });

  it('never repeat what a person typed to the host', async () => {
    const opened = await openedForm();
    fillIn(opened);
    const issues = [{ path: '/secrets/token', code: 'pattern' }];
    opened.service.next.push(refusal(422, 'invalid_config', { issues }), refusal(500, 'tok-123'));
    await opened.form.save();
    opened.form.setValue('/secrets/token', 'tok-456');
    await opened.form.save();
    expect(JSON.stringify(opened.told)).not.toMatch(/tok-|key-123/);
  });
});

describe('editing', () => {
  it('sends only what changed, for the version that was loaded', async () => {
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

  it('sends all settings when one of them changed, and no secret that is kept', async () => {
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
  ])('keeps name and description that the host leaves out: %j', async (init, body) => {
    const { form, service, told } = await openedForm({ existingId: 'con_1', ...init });
    await form.save();
    expect(service.calls[0]?.body).toEqual(body);
    expect(told.at(-1)).toMatchObject({ type: 'saved', connector: { id: 'con_1' } });
  });

  it('clears a secret by null, and replaces one by its value', async () => {
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

  it('asks nothing of a person over a version that is gone: the latest goes under what was typed', async () => {
    const { form, service, told } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/regions/0', 'us');
    form.replaceSecret('/secrets/token');
    form.setValue('/secrets/token', 'tok-456');
    service.next.push(refusal(412, 'precondition_failed'));
    await form.save();
    expect(form.state).toMatchObject({ failure: { code: 'save_failed', action: 'reload' } });
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'save_failed' });

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

describe('the session', () => {
  it('that runs out is renewed by the host, and the save goes on, once', async () => {
    const opened = await openedForm();
    const { form, service, told } = opened;
    fillIn(opened);
    opened.hostAnswers('second-token');
    service.next.push(refusal(401, 'token_expired'));
    await form.save();
    expect(service.calls.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer first-token',
      'Bearer second-token',
    ]);
    expect(new Set(service.calls.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(told.map(({ type }) => type)).toEqual(['loaded', 'session_request', 'saved']);
  });

  it('that nobody renews leaves everything typed, and can be asked for again', async () => {
    const opened = await openedForm();
    const { form, service, told } = opened;
    fillIn(opened);
    service.next.push(refusal(401, 'token_expired'));
    await form.save();
    expect(form.state).toMatchObject({
      phase: 'editing',
      saving: false,
      expired: true,
      failure: { code: 'session_expired' },
    });
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'session_expired' });
    expect(form.value('/secrets/token')).toBe('tok-123');

    opened.hostAnswers('second-token');
    await form.retry();
    expect(form.state).toMatchObject({ expired: false });
    await form.save();
    expect(form.state.phase).toBe('saved');
  });

  it('that comes late lifts the notice by itself', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(refusal(401, 'token_expired'));
    await opened.form.save();
    opened.session.receive('late-token');
    opened.form.sessionRenewed();
    expect(opened.form.state).toMatchObject({ expired: false });
    expect(opened.form.state).not.toHaveProperty('failure');
  });

  it('that is refused though fresh is no matter of time', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.hostAnswers('second-token');
    opened.service.next.push(refusal(401, 'invalid_token'), refusal(401, 'invalid_token'));
    await opened.form.save();
    expect(opened.form.state).toMatchObject({ expired: false, failure: { code: 'unauthorized' } });
    expect(opened.service.calls).toHaveLength(2);
  });
});

describe('testing', () => {
  it('says what was seen and how long it took, until something is edited', async () => {
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

  it('says why it failed, in the words of the service, on the field where it has one', async () => {
    const opened = await openedForm();
    const { form, service, told } = opened;
    fillIn(opened);
    const issues = [{ path: '/secrets/token', code: 'pattern', message: 'Okta refused this token.' }];
    service.next.push(refusal(400, 'test_failed', { reason: 'unauthorized', hint: 'Make a new one.', issues }));
    await form.test();
    expect(form.state).toMatchObject({
      test: {
        state: 'failed',
        failure: { code: 'test_failed', message: 'Refused: test_failed', hint: 'Make a new one.' },
      },
    });
    expect(form.error('/secrets/token')).toBe('Okta refused this token.');
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'test_failed' });
  });

  it('is not begun with what is wrong', async () => {
    const { form, service } = await openedForm();
    await form.test();
    expect(service.calls).toHaveLength(0);
    expect(form.summary.length).toBeGreaterThan(0);
  });
});

it('tells the host of a cancel, and knows whether something would be lost', async () => {
  const { form, told } = await openedForm({ existingId: 'con_1' });
  expect(form.dirty).toBe(false);
  form.setValue('/settings/start', 'all');
  expect(form.dirty).toBe(true);
  form.setValue('/settings/start', 'now');
  expect(form.dirty).toBe(false);
  form.clearSecret('/secrets/token');
  expect(form.dirty).toBe(true);
  form.cancel();
  expect(told.at(-1)).toEqual({ source: 'monad-embed', type: 'cancel' });
});
