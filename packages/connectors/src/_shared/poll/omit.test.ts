import { expect, test } from 'vitest';
import type { PollOmit } from '@connector-frame/catalog';
import { data, open, streamed } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import { withoutOmitted } from './omit.js';

const record = { id: 1, user: 'ann', password: 'hunter2', salt: 'x' };
const left = (omit: PollOmit | PollOmit[], settings: Record<string, unknown> = {}): string[] =>
  Object.keys(withoutOmitted({ omit }, { settings, named: { names: ['id', 'salt'], none: [] } }, [record])[0] ?? {});

const unless: PollOmit = { properties: ['password', 'salt'], when: { field: '/settings/secrets', empty: true } };

test.each<[string, PollOmit | PollOmit[], Record<string, unknown>, string[]]>([
  ['named properties', { properties: ['salt', 'other'] }, {}, ['id', 'user', 'password']],
  ['named properties, unless a switch is on', unless, { secrets: false }, ['id', 'user']],
  ['named properties if the switch is missing', unless, {}, ['id', 'user']],
  ['nothing if the switch is on', unless, { secrets: true }, ['id', 'user', 'password', 'salt']],
  ['properties of a setting', { properties: '/settings/names' }, { names: ['user'] }, ['id', 'password', 'salt']],
  ['properties of a computed list', { properties: 'names' }, {}, ['user', 'password']],
  ['all but those of a list', { except: 'names' }, {}, ['id', 'salt']],
  ['nothing if the list to keep is empty', { except: 'none' }, {}, ['id', 'user', 'password', 'salt']],
  ['by several rules', [unless, { except: 'names' }], {}, ['id']],
])('removes %s', (_name, omit, settings, expected) => {
  expect(left(omit, settings)).toEqual(expected);
});

test('records without their id and time are delivered once, in windows that advance', async () => {
  const shape = { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' };
  const { driver, clock, requests } = await open(streamed({ records: { ...shape, omit: { except: ['n'] } } }), () =>
    data({ id: 'a', n: 0, at: START }, { id: 'b', n: 1, at: START + 1_000 }),
  );
  await driver.poll();
  driver.restart();
  clock.ms += 600_000;
  await driver.poll();
  expect(driver.delivered).toEqual([{ n: 0 }, { n: 1 }]);
  expect(requests.at(-1)?.url).not.toBe(requests[0]?.url);
});
