import { describe, expect, it } from 'vitest';
import { endedConnector, openAccountForm, testWindow } from '../testing/account-forms.js';
import { errorResponse } from '../testing/fake-service.js';
import { fillIn, openedForm } from '../testing/open-form.js';

const TOKEN = '/secrets/token';

describe('connecting an account', () => {
  it('saves the consent instead of a value, and shows the name of the account', async () => {
    const window = testWindow();
    const opened = await openAccountForm(['pending', 'connected'], () => window);
    const { form, service } = opened;
    expect(form.account(TOKEN)).toEqual({ action: 'Connect with Acme', note: '', bad: false });
    expect(form.account('/secrets/signing_key')).toBeUndefined();
    fillIn(opened);
    expect(await form.connectAccount(TOKEN)).toBe('Connected as octocat');
    expect(window.addresses).toEqual(['http://service.test/v1/oauth/start?state=s']);
    expect(form.secret(TOKEN)).toMatchObject({ state: 'connected', account: 'octocat' });
    // What was typed before is neither kept nor sent.
    expect(form.value(TOKEN)).toBeUndefined();
    await form.save();
    expect(service.calls.at(-1)?.body).toMatchObject({
      config: { secrets: { token: { consent: 'consent-1' }, signing_key: { value: 'key-123' } } },
    });
  });

  it('sends the settings, and no secret, to start', async () => {
    const opened = await openAccountForm(['connected'], testWindow);
    fillIn(opened);
    await opened.form.connectAccount(TOKEN);
    const start = opened.service.calls.find(({ method }) => method === 'POST');
    expect(start?.body).toMatchObject({ kind: 'input', settings: { org_url: 'https://acme.okta.com' } });
    expect(JSON.stringify(start?.body)).not.toContain('123');
  });

  it.each([
    ['cancelled', 'Not connected. Try again, or enter a value instead.', false],
    ['failed', 'Acme could not be connected. Check the settings and try again.', true],
    ['expired', 'This took too long. Try again.', true],
  ] as const)('says what happened when it is %s, and can be repeated', async (outcome, note, bad) => {
    const opened = await openAccountForm([outcome], testWindow);
    expect(await opened.form.connectAccount(TOKEN)).toBeUndefined();
    expect(opened.form.account(TOKEN)).toEqual({ action: 'Connect Acme again', note, bad });
    expect(opened.form.secret(TOKEN)).toEqual({ state: 'empty' });
  });

  it('says that the browser opened no window, without a request', async () => {
    const { form, service } = await openAccountForm([], () => undefined);
    await form.connectAccount(TOKEN);
    expect(form.account(TOKEN)?.note).toContain('opened no window');
    expect(service.calls).toEqual([]);
  });

  it('keeps asking while the window only seems closed: vendors cut the connection to it', async () => {
    const window = testWindow();
    window.closed = true;
    const { form } = await openAccountForm(['pending', 'pending', 'connected'], () => window);
    expect(await form.connectAccount(TOKEN)).toBe('Connected as octocat');
  });

  it('lets go of the account when the destination changes: the service would refuse it', async () => {
    const opened = await openAccountForm(['connected'], testWindow);
    fillIn(opened);
    await opened.form.connectAccount(TOKEN);
    opened.form.setValue('/settings/org_url', 'https://evil.example');
    expect(opened.form.secret(TOKEN)).toEqual({ state: 'empty' });
  });

  it('asks to connect again when the vendor has ended it, and sends that alone', async () => {
    const { form, service } = await openAccountForm(['connected'], testWindow, endedConnector);
    expect(form.account(TOKEN)).toEqual({
      action: 'Connect Acme again',
      note: 'Acme no longer accepts the connected account.',
      bad: true,
    });
    await form.connectAccount(TOKEN);
    await form.save();
    expect(service.calls.at(-1)?.body).toEqual({ config: { secrets: { token: { consent: 'consent-1' } } } });
  });

  it('requires it again when the service no longer has it', async () => {
    const opened = await openAccountForm(['connected'], testWindow);
    fillIn(opened);
    await opened.form.connectAccount(TOKEN);
    opened.service.next.push(errorResponse(422, 'consent_expired', { issues: [{ path: TOKEN, code: 'required' }] }));
    await opened.form.save();
    expect(opened.form.secret(TOKEN)).toEqual({ state: 'empty' });
    expect(opened.form.summary.map(({ path }) => path)).toEqual([TOKEN]);
  });

  it('is not offered if the service has no client, or for other types', async () => {
    const { form } = await openedForm();
    expect(form.account(TOKEN)).toBeUndefined();
  });
});
