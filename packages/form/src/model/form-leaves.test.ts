import { expect, it } from 'vitest';
import { fillIn, openedForm, openForm, type OpenedForm } from '../testing/open-form.js';
import { refusal } from '../testing/fake-service.js';

/** Counts the `left` messages to the host. */
const left = ({ told }: OpenedForm): number => told.filter(({ type }) => type === 'left').length;
const asks = ({ form }: OpenedForm): boolean => form.state.phase === 'editing' && form.state.leaving === true;

it('may go at once while it loads, while nothing is typed, and once it is saved', async () => {
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

it('may go at once when it could not load', async () => {
  const opened = openForm({ existingId: 'con_1' });
  opened.service.next.push(refusal(404, 'not_found'), refusal(404, 'not_found'));
  await opened.loaded;
  expect(opened.form.state.phase).toBe('load_failed');
  opened.form.askToLeave();
  expect(left(opened)).toBe(1);
});

it('asks before typed work goes; a no is not told, a yes is', async () => {
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

it('asks no more once nothing typed is left', async () => {
  const opened = await openedForm({ existingId: 'con_1' });
  const { form } = opened;
  const before = form.value('/settings/org_url');
  form.setValue('/settings/org_url', 'https://other.okta.com');
  form.setValue('/settings/org_url', before);
  form.askToLeave();
  expect(left(opened)).toBe(1);
});

it('may go when a save that was under way succeeds, and asks on when it fails', async () => {
  const opened = await openedForm();
  const { form, service } = opened;
  fillIn(opened);
  service.next.push(refusal(403, 'forbidden'));
  const refused = form.save();
  form.askToLeave();
  await refused;
  expect(asks(opened)).toBe(true);
  expect(left(opened)).toBe(0);
  form.keepEditing();

  const saved = form.save();
  form.askToLeave();
  await saved;
  expect(opened.told.slice(-2).map(({ type }) => type)).toEqual(['saved', 'left']);
});

it('does not go when the person kept editing during a save', async () => {
  const opened = await openedForm();
  fillIn(opened);
  const saved = opened.form.save();
  opened.form.askToLeave();
  opened.form.keepEditing();
  await saved;
  expect(opened.told.at(-1)).toMatchObject({ type: 'saved' });
  expect(left(opened)).toBe(0);
});
