import { describe, expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

describe('records', () => {
  test('without an id, a time, or being an object, they come all the same, and once', async () => {
    const odd = [
      { n: 1 },
      { n: 1 },
      { id: '', n: 2, at: 'soon' },
      7,
      null,
      [1],
      'text',
      { n: 3, id: 'a' },
      { n: 3, id: 'a' },
    ];
    const { driver, clock } = await open({}, () => data(...odd));
    for (let round = 0; round < 3; round += 1) {
      await driver.poll();
      driver.restart();
      clock.ms += 10_000;
    }
    expect(driver.delivered).toEqual([
      { n: 1 },
      { n: 1 },
      { id: '', n: 2, at: 'soon' },
      { value: 7 },
      { value: 'null' },
      { value: '[1]' },
      { value: 'text' },
      { n: 3, id: 'a' },
    ]);
  });

  test('twins without an id, on two pages, with a stop between', async () => {
    const { driver } = await open(
      streamed({
        records: { path: '/data', time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'offset', parameter: 'skip' },
      }),
      (query) =>
        data(
          ...[{ at: START }, { at: START }, { at: START }, { at: START }, { at: START }]
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    expect(driver.delivered).toHaveLength(5);
    driver.restart();
    await driver.poll();
    expect(driver.delivered).toHaveLength(5);
  });

  test('a time in the future does not hide what comes until then', async () => {
    const log = [{ id: 'a', n: 0, at: START + 86_400_000 * 300 }];
    const { driver, clock } = await open({}, (query) =>
      data(...log.filter(({ at }) => at >= Date.parse(query.get('since') ?? ''))),
    );
    await driver.poll();
    clock.ms += 60_000;
    log.push({ id: 'b', n: 1, at: clock.ms });
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('by ascending id', async () => {
    const log = records(0, 5).map(({ n }) => ({ id: n + 10, n }));
    const byId = streamed({
      query: { after: '{{after}}' },
      records: { path: '/data', id: '/id' },
      cursor: { kind: 'id' },
    });
    const { driver, requests } = await open(byId, (query) =>
      data(...log.filter(({ id }) => id > Number(query.get('after') ?? 0)).slice(0, 2)),
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    log.push({ id: 15, n: 5 });
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
    expect(requests.at(0)?.url).toBe('/events');
    expect(requests.at(-1)?.url).toBe('/events?after=14');
  });

  test('a page of several megabytes is read; one without end is not', async () => {
    const big = records(0, 2_000).map((record) => ({ ...record, text: 'x'.repeat(4_000) }));
    const { driver } = await open({}, () => data(...big));
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(2_000));
    const endless = await open({}, () => ({
      body: JSON.stringify({ data: [{ text: 'x'.repeat(17 * 1024 * 1024) }] }),
    }));
    expect(await endless.driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'permanent' });
  });
});
