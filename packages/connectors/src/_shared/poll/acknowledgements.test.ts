import { expect, test } from 'vitest';
import type { PollStream } from '@connector-frame/catalog';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import type { Received, Reply } from '../../../../../test/support/vendor.js';

const acknowledge = {
  path: '/events/{{id}}/read',
  method: 'PUT',
  body: { status: 'read' },
  when: { field: '/settings/acknowledge' },
} satisfies PollStream['acknowledge'];
const PAGE = 2;

/** Acme's events, its answers to acknowledgements, and which were sent. */
async function acme(read: (id: string) => Reply, isOn = true) {
  const log = records(0, 5);
  const acknowledged: string[] = [];
  const opened = await open(
    streamed({ acknowledge, pagination: { kind: 'offset', parameter: 'skip' } }),
    (query, { url, method, body }: Received) => {
      const [, , id = '', action] = url.split('/');
      const from = Number(query.get('skip') ?? 0);
      if (action !== 'read') return data(...log.slice(from, from + PAGE));
      expect([method, JSON.parse(body)]).toEqual(['PUT', { status: 'read' }]);
      acknowledged.push(id);
      return read(id);
    },
    { settings: { acknowledge: isOn, start: '2026-03-10T11:00:00Z' } },
  );
  return { ...opened, acknowledged, log };
}
const ids = (count: number): string[] => upTo(count).map((n) => `i${n}`);

test('records are acknowledged after the page is stored, also after a restart', async () => {
  const { driver, acknowledged } = await acme(() => ({ body: {} }));
  await driver.poll(1);
  // The process ended before the next page was requested: nothing says that the page was stored.
  expect(acknowledged).toEqual([]);
  driver.restart();
  await driver.poll(1);
  expect(acknowledged).toEqual(ids(2));
  driver.restart();
  await driver.poll();
  expect(acknowledged).toEqual(ids(5));
  await driver.poll();
  driver.restart();
  await driver.poll();
  expect(acknowledged).toEqual(ids(5));
  expect(driver.numbers).toEqual(upTo(5));
});

test('records are read although the vendor rejects acknowledgements, which are tried again', async () => {
  let status = 403;
  const { driver, acknowledged, log } = await acme((id) => ({ status: id === 'i1' ? 404 : status }));
  expect(await driver.fails()).toMatchObject({ code: 'forbidden', kind: 'permanent' });
  expect(driver.numbers).toEqual(upTo(5));
  expect(acknowledged).toEqual(['i0']);
  log.push(...records(5, 6));
  driver.restart();
  expect(await driver.fails()).toMatchObject({ code: 'forbidden' });
  expect(driver.numbers).toEqual(upTo(6));
  status = 204;
  acknowledged.length = 0;
  await driver.poll();
  expect(acknowledged).toEqual(ids(6));
  await driver.poll();
  expect(acknowledged).toEqual(ids(6));
});

test('nothing is acknowledged if the setting is off', async () => {
  const { driver, acknowledged } = await acme(() => ({ status: 500 }), false);
  await driver.poll();
  await driver.poll();
  expect(acknowledged).toEqual([]);
});
