import { describe, expect, it, vi } from 'vitest';
import { fillIn, openedForm, openForm, type OpenedForm } from '../testing/open-form.js';
import { errorResponse, json } from '../testing/fake-service.js';

/** Counts the `left` messages to the host. */
const left = ({ posted }: OpenedForm): number => posted.filter(({ type }) => type === 'left').length;
const asks = ({ form }: OpenedForm): boolean => form.state.phase === 'editing' && form.state.leaving === true;

it('leaves immediately while it loads, without edits, and after a save', async () => {
  const opened = openForm();
  opened.form.askToLeave();
  expect(left(opened)).toBe(1);
  await opened.loaded;
  opened.form.askToLeave();
  expect(left(opened)).toBe(2);
  expect(asks(opened)).toBe(false);
  fillIn(opened);
  await opened.form.save();
  expect(left(opened)).toBe(2);
  opened.form.askToLeave();
  expect(left(opened)).toBe(3);
});

it('leaves immediately if it failed to load', async () => {
  const opened = openForm({ existingId: 'con_1' });
  opened.service.next.push(errorResponse(404, 'not_found'), errorResponse(404, 'not_found'));
  await opened.loaded;
  expect(opened.form.state.phase).toBe('load_failed');
  opened.form.askToLeave();
  expect(left(opened)).toBe(1);
});

it('asks before it discards edits, and tells the host only if the user agrees', async () => {
  const opened = await openedForm();
  const { form } = opened;
  form.setValue('/settings/org_url', 'https://acme.okta.com');
  form.askToLeave();
  expect(asks(opened)).toBe(true);
  expect(left(opened)).toBe(0);

  form.keepEditing();
  expect(asks(opened)).toBe(false);
  expect(left(opened)).toBe(0);
  expect(form.value('/settings/org_url')).toBe('https://acme.okta.com');

  form.askToLeave();
  form.discard();
  expect(left(opened)).toBe(1);
});

it('does not ask if all edits were undone', async () => {
  const opened = await openedForm({ existingId: 'con_1' });
  const { form } = opened;
  const before = form.value('/settings/org_url');
  form.setValue('/settings/org_url', 'https://other.okta.com');
  form.setValue('/settings/org_url', before);
  form.askToLeave();
  expect(left(opened)).toBe(1);
  // The page does not ask either.
  expect(opened.posted.slice(-2)).toMatchObject([{ type: 'dirty', dirty: false }, { type: 'left' }]);
});

const canceled = ({ posted }: OpenedForm): number => posted.filter(({ type }) => type === 'cancel').length;

describe('cancel', () => {
  it('is reported at once without edits and after a save', async () => {
    const opened = await openedForm();
    opened.form.cancel();
    expect([canceled(opened), asks(opened)]).toEqual([1, false]);
    fillIn(opened);
    await opened.form.save();
    opened.form.cancel();
    expect(canceled(opened)).toBe(2);
  });

  it('asks before it discards edits', async () => {
    const opened = await openedForm();
    const { form } = opened;
    form.setValue('/secrets/token', 'tok-123');
    form.cancel();
    expect([canceled(opened), asks(opened)]).toEqual([0, true]);
    form.keepEditing();
    expect([canceled(opened), asks(opened), form.value('/secrets/token')]).toEqual([0, false, 'tok-123']);
    form.cancel();
    form.discard();
    expect([canceled(opened), asks(opened), left(opened)]).toEqual([1, false, 0]);
  });

  it('discards the edits: a host that keeps the frame shows the form as it was loaded', async () => {
    const opened = await openedForm({ existingId: 'con_1' });
    const { form } = opened;
    const before = form.value('/settings/org_url');
    form.setValue('/settings/org_url', 'not a URL');
    form.replaceSecret('/secrets/token');
    form.setValue('/secrets/token', 'tok-123');
    await form.save();
    expect(form.summary).not.toEqual([]);
    form.cancel();
    form.discard();
    expect([form.value('/settings/org_url'), form.value('/secrets/token')]).toEqual([before, undefined]);
    expect([form.secret('/secrets/token').state, form.summary, asks(opened)]).toEqual(['kept', [], false]);
    // It can be edited again, and a repeated Cancel has nothing to discard.
    form.cancel();
    expect(canceled(opened)).toBe(2);
    form.setValue('/settings/org_url', 'https://other.okta.com');
    form.cancel();
    expect(asks(opened)).toBe(true);
  });

  it('asks once: the host may then unload the form, until the next edit', async () => {
    const opened = await openedForm();
    const { form } = opened;
    form.setValue('/settings/org_url', 'https://acme.okta.com');
    form.cancel();
    form.discard();
    form.askToLeave();
    expect([left(opened), asks(opened)]).toEqual([1, false]);
    form.setValue('/settings/org_url', 'https://other.okta.com');
    form.cancel();
    expect(asks(opened)).toBe(true);
  });

  it('becomes a request of the host that comes while it asks', async () => {
    const opened = await openedForm();
    opened.form.setValue('/settings/org_url', 'https://acme.okta.com');
    opened.form.cancel();
    opened.form.askToLeave();
    opened.form.discard();
    expect([left(opened), canceled(opened)]).toEqual([1, 0]);
  });

  it('during a save that succeeds reports the save alone', async () => {
    const opened = await openedForm();
    fillIn(opened);
    const saved = opened.form.save();
    opened.form.cancel();
    await saved;
    expect(opened.posted.at(-1)).toMatchObject({ type: 'saved' });
    expect([canceled(opened), left(opened)]).toEqual([0, 0]);
  });
});

/** Creates a response that arrives when the test says so. */
function deferred(): { response: Promise<Response>; arrive: (response: Response) => void } {
  const arriving: { arrive?: (response: Response) => void } = {};
  const response = new Promise<Response>((resolve) => (arriving.arrive = resolve));
  return { response, arrive: (late) => arriving.arrive?.(late) };
}

describe('discarding', () => {
  it('while a save waits for a session ends that save', async () => {
    const opened = await openedForm({ existingId: 'con_1' });
    const { form, service } = opened;
    form.setValue('/settings/org_url', 'https://other.okta.com');
    fillIn(opened);
    service.next.push(errorResponse(401, 'token_expired'));
    await form.save();
    form.cancel();
    form.discard();
    const { length } = service.calls;
    opened.session.receive('late-token');
    form.sessionRenewed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(service.calls).toHaveLength(length);
    expect([form.state.phase, opened.posted.filter(({ type }) => type === 'saved')]).toEqual(['editing', []]);
  });

  it('during a save waits for its outcome', async () => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    const { response, arrive } = deferred();
    service.next.push(response);
    const saved = form.save();
    form.cancel();
    form.discard();
    expect([asks(opened), canceled(opened)]).toEqual([true, 0]);
    arrive(errorResponse(403, 'forbidden'));
    await saved;
    await vi.waitFor(() => expect(canceled(opened)).toBe(1));
    expect(form.state).not.toHaveProperty('failure');

    fillIn(opened);
    const again = form.save();
    form.cancel();
    form.discard();
    await again;
    expect([form.state.phase, canceled(opened)]).toEqual(['saved', 1]);
  });

  it.each([
    ['passed', () => json({ ok: true, summary: '', duration_ms: 1 })],
    ['failed', () => errorResponse(403, 'forbidden')],
  ])('during a connection test that has %s shows no result', async (_outcome, response) => {
    const opened = await openedForm();
    const { form, service } = opened;
    fillIn(opened);
    const { response: late, arrive } = deferred();
    service.next.push(late);
    const tested = form.test();
    form.cancel();
    form.discard();
    arrive(response());
    await tested;
    expect(form.state).toMatchObject({ phase: 'editing', test: { state: 'idle' } });
  });

  it('warns about an unknown override only once', async () => {
    const opened = await openedForm({ configMetaOverrides: { settings: { nowhere: { name: 'X' } } } });
    expect(opened.warnings).toHaveLength(1);
    opened.form.setValue('/settings/org_url', 'https://acme.okta.com');
    opened.form.cancel();
    opened.form.discard();
    expect(opened.warnings).toHaveLength(1);
  });
});

it('leaves if the pending save succeeds, and keeps asking if it fails', async () => {
  const opened = await openedForm();
  const { form, service } = opened;
  fillIn(opened);
  service.next.push(errorResponse(403, 'forbidden'));
  const failedSave = form.save();
  form.askToLeave();
  await failedSave;
  expect(asks(opened)).toBe(true);
  expect(left(opened)).toBe(0);
  form.keepEditing();

  const saved = form.save();
  form.askToLeave();
  await saved;
  expect(opened.posted.slice(-2).map(({ type }) => type)).toEqual(['saved', 'left']);
});

it('stays if the user chose to keep editing during a save', async () => {
  const opened = await openedForm();
  fillIn(opened);
  const saved = opened.form.save();
  opened.form.askToLeave();
  opened.form.keepEditing();
  await saved;
  expect(opened.posted.at(-1)).toMatchObject({ type: 'saved' });
  expect(left(opened)).toBe(0);
});
