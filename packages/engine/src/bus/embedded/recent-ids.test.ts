import { expect, test } from 'vitest';
import { RecentIds } from './recent-ids.js';

test('the last 1,024 ids are known, in order, also after a rest', () => {
  const ids = new RecentIds();
  for (let n = 1; n <= 1_500; n += 1) {
    ids.add(`id ${n}`, n);
    if (n % 400 === 0) ids.rest();
  }
  ids.rest();
  ids.rest();
  expect([ids.get('id 476'), ids.get('id 477'), ids.get('id 1500')]).toEqual([undefined, 477, 1_500]);
  ids.rest();
  const copy = new RecentIds();
  copy.addText(ids.toText());
  copy.add('id 1501', 1_501);
  expect([copy.get('id 477'), copy.get('id 478'), copy.get('id 1501')]).toEqual([undefined, 478, 1_501]);
});
