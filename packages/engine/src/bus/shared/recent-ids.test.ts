import { expect, test } from 'vitest';
import { RecentIds } from './recent-ids.js';

test('keeps the last 1,024 ids in order, also when compacted', () => {
  const ids = new RecentIds();
  for (let n = 1; n <= 1_500; n += 1) {
    ids.add(`id ${n}`, n);
    if (n % 400 === 0) ids.compact();
  }
  ids.compact();
  ids.compact();
  expect([ids.get('id 476'), ids.get('id 477'), ids.get('id 1500')]).toEqual([undefined, 477, 1_500]);
  ids.compact();
  const copy = new RecentIds();
  copy.addText(ids.toText());
  copy.add('id 1501', 1_501);
  expect([copy.get('id 477'), copy.get('id 478'), copy.get('id 1501')]).toEqual([undefined, 478, 1_501]);
});
