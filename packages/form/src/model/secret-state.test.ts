import { getAt } from '@connector-frame/catalog/validate';
import { expect, it } from 'vitest';
import { openedForm } from '../testing/open-form.js';
import type { SecretState } from './field.js';
import { keptOf, nextSecret, type SecretEvent } from './secret-state.js';

const kept = { id: 'sec_1', updatedAt: '2026-11-12T08:30:00Z' };

it.each([
  ['kept', 'replace', false, 'typing'],
  ['kept', 'clear', false, 'cleared'],
  ['kept', 'moved', true, 'reentry'],
  ['reentry', 'moved', false, 'kept'],
  ['reentry', 'replace', true, 'reentry'],
  ['reentry', 'clear', true, 'cleared'],
  ['cleared', 'moved', true, 'cleared'],
  ['cleared', 'keep', true, 'reentry'],
  ['cleared', 'keep', false, 'kept'],
  ['typing', 'keep', false, 'kept'],
  ['typing', 'moved', true, 'reentry'],
  ['empty', 'clear', false, 'empty'],
  ['empty', 'moved', true, 'empty'],
] as const)('%s, %s (moved: %j) -> %s', (from, event, moved, to) => {
  const state: SecretState =
    from === 'empty' ? { state: from } : from === 'typing' ? { state: from, replaces: kept } : { state: from, kept };
  expect(nextSecret(state, event, { moved, blank: true }).state).toBe(to);
});

/** A seeded generator: the failure message names the seed that reproduces it. */
const randomOf = (seed: number) => (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

it('random events: never forgets a stored secret, and keeps it for its destination only', () => {
  const events: readonly SecretEvent[] = ['typed', 'replace', 'keep', 'clear', 'moved'];
  for (let seed = 0; seed < 2_000; seed += 1) {
    const random = randomOf(seed);
    const first = random() < 0.7 ? kept : undefined;
    let secret: SecretState = first ? { state: 'kept', kept } : { state: 'empty' };
    let [moved, blank] = [false, true];
    for (let step = 0; step < 12; step += 1) {
      const event = events[Math.floor(random() * events.length)] ?? 'typed';
      if (event === 'moved') moved = !moved;
      else blank = event !== 'typed' || random() < 0.3;
      secret = nextSecret(secret, event, { moved, blank });
      expect(keptOf(secret), `seed ${seed}`).toEqual(first);
      if (secret.state === 'kept') expect(moved, `seed ${seed}`).toBe(false);
      if (secret.state === 'reentry') expect([moved, blank], `seed ${seed}`).toEqual([true, true]);
      if (!blank) expect(secret.state, `seed ${seed}`).toBe('typing');
    }
  }
});

/**
 * S13, through the form: whatever the user did before a save, each secret in the write is absent
 * (kept), `null` (cleared) or an entered value; never `''`, never mask characters, and never kept
 * for another destination.
 */
it('random edits: a write contains only entered values, null for cleared secrets, and no mask characters', async () => {
  const paths = ['/secrets/token', '/secrets/signing_key'] as const;
  const values = [' ', '••••••••', '********', 'new-value', ' padded '];
  const urls = ['https://acme.okta.com', 'https://evil.example'] as const;
  for (let seed = 0; seed < 150; seed += 1) {
    const random = randomOf(seed);
    const pick = <T>(first: T, ...more: T[]): T => more[Math.floor(random() * (more.length + 1)) - 1] ?? first;
    const { form, service } = await openedForm({ existingId: 'con_1' });
    for (let step = 0; step < 8; step += 1) {
      const path = pick(...paths);
      const act = pick('type', 'type', 'replace', 'keep', 'clear', 'leave', 'move', 'move back', 'save');
      if (act === 'type') form.setValue(path, pick('', ...values));
      if (act === 'replace') form.replaceSecret(path);
      if (act === 'keep') form.keepSecret(path);
      if (act === 'clear') form.clearSecret(path);
      if (act === 'leave') form.leave(path);
      if (act === 'move') form.setValue('/settings/org_url', pick(...urls));
      if (act === 'move back') form.setValue('/settings/org_url', urls[0]);
      if (act === 'save') await form.save();
    }
    const moved = form.value('/settings/org_url') !== urls[0];
    const states = new Map(paths.map((path) => [path, form.secret(path).state]));
    service.calls.length = 0;
    await form.save();
    const call = service.calls.find(({ method }) => method === 'PATCH');
    if (!call) continue;
    for (const path of paths) {
      const write = getAt(call.body, `/config${path}`);
      const state = states.get(path);
      if (write === undefined) expect([state, moved], `seed ${seed} ${path}`).toEqual(['kept', false]);
      else if (write === null) expect(state, `seed ${seed} ${path}`).toBe('cleared');
      else expect(['new-value', 'padded'], `seed ${seed} ${path}`).toContain(getAt(write, '/value'));
    }
  }
});
