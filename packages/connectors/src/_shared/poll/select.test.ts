import { expect, test } from 'vitest';
import type { PollOnly } from '@connector-frame/catalog';
import { isSelected } from './select.js';

const settings = { kinds: ['a', 'b'], kind: 'a', lowest: 5, text: '5', on: true, off: false, empty: '', none: [] };
const records = [{ k: 'a' }, { k: 'b', n: 4 }, { k: 'c', n: 5 }, { k: ['c', 'a'], n: '10' }, { n: 7 }, { k: true }];
const kept = (only: PollOnly | PollOnly[]): number[] =>
  records.flatMap((record, index) =>
    isSelected({ only }, { settings, named: { list: ['b'] } }, record) ? [index] : [],
  );

test.each<[string, PollOnly | PollOnly[], number[]]>([
  ['with a value of a list', { path: '/k', field: '/settings/kinds' }, [0, 1, 3]],
  ['with one value', { path: '/k', field: '/settings/kind' }, [0, 3]],
  ['with a computed value', { path: '/k', field: 'list' }, [1]],
  ['with a switch', { path: '/k', field: '/settings/on' }, [5]],
  ['all, of an empty setting', { path: '/k', field: '/settings/empty' }, [0, 1, 2, 3, 4, 5]],
  ['all, of an empty list', { path: '/k', field: '/settings/none' }, [0, 1, 2, 3, 4, 5]],
  ['that end with a text', { path: '/k', ends: ['b', 'c'] }, [1, 2, 3]],
  ['without a value', { path: '/k', not: '/settings/kinds' }, [2, 4, 5]],
  ['with a number or more', { path: '/n', at_least: '/settings/lowest' }, [2, 3, 4]],
  ['with a number or less', { path: '/n', at_most: '/settings/text' }, [1, 2]],
  ['with a value, or with none', { path: '/k', field: '/settings/kind', missing: true }, [0, 3, 4]],
  [
    'with none too, by a switch',
    { path: '/n', at_least: '/settings/lowest', missing: '/settings/on' },
    [0, 2, 3, 4, 5],
  ],
  ['with any value, by a switch', { path: '/n', at_least: '/settings/empty', missing: '/settings/off' }, [1, 2, 3, 4]],
  [
    'that pass several filters',
    [
      { path: '/k', not: 'list' },
      { path: '/n', at_least: '/settings/lowest' },
    ],
    [2, 3, 4],
  ],
])('keeps records %s', (_name, only, expected) => {
  expect(kept(only)).toEqual(expected);
});
