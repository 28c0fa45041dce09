import { describe, expect, it } from 'vitest';
import { exampleType } from '../testing/example-type.js';
import { json, errorResponse } from '../testing/fake-service.js';
import { fillIn, openedForm, openForm } from '../testing/open-form.js';

const lost = (): Error => new TypeError('Failed to fetch');

describe('loading', () => {
  it('requests the type and the session, and shows the type', async () => {
    const { form, service, posted, loaded } = openForm();
    expect(form.state).toEqual({ phase: 'loading' });
    await loaded;
    expect(service.calls.map(({ path }) => path)).toEqual([
      'http://service.test/v1/inputs/okta-systemlog',
      'http://service.test/v3/session',
    ]);
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
    expect(posted).toEqual([{ source: 'monad-embed', type: 'loaded', title: 'Okta System Log' }]);
  });

  it('requests the connector on edit, and shows its values', async () => {
    const { form, service, loaded } = openForm({ existingId: 'con 1', displayName: 'Okta' });
    await loaded;
    expect(service.calls.map(({ path }) => path)).toEqual([
      'http://service.test/v1/inputs/okta-systemlog',
      'http://service.test/v1/org%201/inputs/con%201',
      'http://service.test/v3/session',
    ]);
    expect(form.state).toMatchObject({ subject: { mode: 'edit', title: 'Okta', subtitle: 'Created 12 Nov 2026' } });
    expect(form.value('/settings/org_url')).toBe('https://acme.okta.com');
    expect(form.value('/settings/headers')).toEqual([{ key: 'X-Team', value: 'security' }]);
    expect(form.secret('/secrets/token')).toMatchObject({ state: 'kept', kept: { id: 'sec_1', name: 'API token' } });
    expect(form.secret('/secrets/extra')).toEqual({ state: 'empty' });
  });

  it('reads and writes an enrichment where the third version of the public API has it', async () => {
    const { form, service, loaded } = openForm({ existingId: 'con 1', kind: 'enrichment' });
    await loaded;
    await form.test();
    form.setValue('/settings/headers', [{ key: 'X-Team', value: 'platform' }]);
    await form.save();
    expect(service.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET http://service.test/v1/enrichments/okta-systemlog',
      'GET http://service.test/v3/org%201/enrichments/con%201',
      'GET http://service.test/v3/session',
      'POST http://service.test/v3/org%201/enrichments/test-connection',
      'PATCH http://service.test/v3/org%201/enrichments/con%201',
    ]);
  });

  it.each([
    [404, 'not_found', 'type_not_found', false],
    [403, 'forbidden', 'unauthorized', false],
    [500, 'internal_error', 'load_failed', true],
  ])('reports a %i to the user and the host', async (status, type, code, canRetry) => {
    const { form, service, posted, loaded } = openForm();
    service.next.push(errorResponse(status, type));
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', canRetry, failure: { code } });
    expect(posted).toMatchObject([{ type: 'error', code }]);
  });

  it('reports the ID of an unknown connector type to the host', async () => {
    const { service, posted, loaded } = openForm();
    service.next.push(errorResponse(404, 'not_found'));
    await loaded;
    expect(posted).toMatchObject([{ code: 'type_not_found', message: expect.stringContaining('okta-systemlog') }]);
  });

  it('distinguishes an unknown connector from an unknown type', async () => {
    const { form, service, loaded } = openForm({ existingId: 'con_1' });
    service.next.push(undefined, errorResponse(404, 'not_found'));
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'connector_not_found' } });
  });

  it('loads again on retry', async () => {
    const { form, service, loaded } = openForm();
    service.next.push(errorResponse(500, 'internal_error'));
    await loaded;
    await form.retry();
    expect(form.state.phase).toBe('editing');
  });

  it('reports that the browser is offline, without a retry', async () => {
    const { form, service, loaded } = openForm({}, { online: () => false });
    service.next.push(lost());
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'offline' }, canRetry: true });
    expect(service.calls.filter(({ path }) => path.endsWith('okta-systemlog'))).toHaveLength(1);
  });

  it('does not show the form if the session cannot be read', async () => {
    const { form, service, loaded } = openForm();
    service.next.push(json(exampleType), errorResponse(403, 'forbidden'));
    await loaded;
    expect(form.state).toMatchObject({ phase: 'load_failed', failure: { code: 'unauthorized' } });
  });
});

describe('creating', () => {
  it('sends the entered values once and reports the connector to the host', async () => {
    const opened = await openedForm();
    const { form, service, posted } = opened;
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
    expect(posted.at(-1)).toEqual({
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
  ])('uses the name and description of %j', async (init, name, description) => {
    const opened = await openedForm(init);
    fillIn(opened);
    await opened.form.save();
    expect(opened.service.calls[0]?.body).toMatchObject({ name, description });
  });

  it('uses an entered name and description, and rejects a blank name', async () => {
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

  it('sends nothing if fields are invalid, and lists them in display order', async () => {
    const { form, service, posted } = await openedForm();
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
    // Validation errors are not reported to the host as errors of the frame.
    expect(posted.filter(({ type }) => type === 'error')).toEqual([]);
  });
});

describe('one write per intent', () => {
  it('retries a write with the same key if its response was lost, and uses a new key for other content', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    service.next.push(lost(), lost(), lost(), lost());
    await form.save();
    expect(form.state).toMatchObject({ phase: 'editing', saving: false, failure: { code: 'save_failed' } });
    expect(form.value('/secrets/token')).toBe('tok-123');
    service.next.push(errorResponse(500, 'internal_error'));
    await form.save();
    const keys = (): (string | null)[] => service.calls.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toHaveLength(5);

    form.setValue('/settings/org_url', 'https://other.okta.com');
    await form.save();
    expect(new Set(keys()).size).toBe(2);
    expect(form.state.phase).toBe('saved');
  });

  it('uses a new key after a permanent failure', async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(errorResponse(403, 'forbidden'));
    await opened.form.save();
    await opened.form.save();
    const [first, second] = opened.service.calls.map(({ headers }) => headers.get('idempotency-key'));
    expect(first).not.toBe(second);
  });
});
