import { BlockList } from 'node:net';
import { expect, test } from 'vitest';
import { seededRandom } from '@connector-frame/engine/testing';
import { readIp } from '../_shared/lookup/read-ip.js';
import { Networks, numberOf, readRange } from './networks.js';

const find = <T>(networks: Networks<T>, text: string): T | undefined => {
  const address = readIp(text);
  return address && networks.find(numberOf(address));
};
const networksOf = (...texts: string[]): Networks<string> =>
  new Networks(
    texts.map((text) => {
      const range = readRange(text);
      if (!range) throw new Error(text);
      return [range, text];
    }),
  );

test('finds the smallest network, address or range that contains an address', () => {
  const networks = networksOf(
    '10.0.0.0/8',
    '10.1.0.0/16',
    '10.1.2.3',
    '10.1.2.0-10.1.2.9',
    '2001:db8::/32',
    '2001:db8::1-2001:db8::f',
    '0.0.0.0/0',
  );
  const cases = {
    '10.200.0.1': '10.0.0.0/8',
    '10.1.0.1': '10.1.0.0/16',
    '10.1.2.3': '10.1.2.3',
    '10.1.2.9': '10.1.2.0-10.1.2.9',
    '10.1.2.10': '10.1.0.0/16',
    '::ffff:10.1.2.3': '10.1.2.3',
    '2001:db8::a': '2001:db8::1-2001:db8::f',
    '2001:DB8::10': '2001:db8::/32',
    '2001:db9::': undefined,
    '8.8.8.8': '0.0.0.0/0',
    '255.255.255.255': '0.0.0.0/0',
    '10.1.2': undefined,
    'fe80::1%eth0': undefined,
    text: undefined,
    '': undefined,
  };
  for (const [address, network] of Object.entries(cases))
    expect([address, find(networks, address)]).toEqual([address, network]);
  expect(find(new Networks([]), '10.0.0.1')).toBeUndefined();
});

test.each([
  '10.0.0.0/33',
  '10.0.0/8',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.9-10.0.0.1',
  '10.0.0.1-::1',
  '1-2-3',
  '::/129',
  '::/8/8',
  'text',
  '',
])('%s is no network', (text) => {
  expect(readRange(text)).toBeUndefined();
});

test('bits after the prefix are ignored, and spaces around', () => {
  expect(readRange(' 10.1.2.3/8 ')).toEqual(readRange('10.0.0.0/8'));
  expect(readRange('10.0.0.1 - 10.0.0.2')).toEqual(readRange('10.0.0.1-10.0.0.2'));
  expect(readRange('::ffff:10.0.0.1/128')).toEqual(readRange('10.0.0.1'));
});

// `BlockList` of Node.js decides independently whether a range contains an address.
test('agrees with an independent implementation for random overlapping ranges', () => {
  const random = seededRandom(7);
  const octet = (): number => Math.floor(random() * 4);
  const v4 = (): string => `10.0.${octet()}.${Math.floor(random() * 256)}`;
  const v6 = (): string => `2001:db8::${octet()}:${Math.floor(random() * 65_536).toString(16)}`;
  for (let round = 0; round < 8; round += 1) {
    const ranges = Array.from({ length: 40 }, (_, index) => {
      const make = random() < 0.5 ? v4 : v6;
      const bits = make === v4 ? 32 : 128;
      const family = make === v4 ? ('ipv4' as const) : ('ipv6' as const);
      const block = new BlockList();
      const prefix = bits - Math.floor(random() * 14);
      const ends = [make(), make()] as const;
      const asRange = [`${ends[0]}-${ends[1]}`, `${ends[1]}-${ends[0]}`].find((text) => readRange(text));
      const text = random() < 0.5 && asRange !== undefined ? asRange : `${make()}/${prefix}`;
      const [first = '', last = ''] = text.split('-');
      if (text.includes('-')) block.addRange(first, last, family);
      else block.addSubnet(text.split('/')[0] ?? '', prefix, family);
      const range = readRange(text);
      if (!range) throw new Error(text);
      return { block, index, range, size: range.last - range.first };
    });
    const networks = new Networks(ranges.map(({ range, index }) => [range, index] as const));
    for (let probe = 0; probe < 100; probe += 1) {
      const [text, family] = random() < 0.5 ? [v4(), 'ipv4' as const] : [v6(), 'ipv6' as const];
      const containing = ranges
        .filter(({ block }) => block.check(text, family))
        .sort((a, b) => (a.size < b.size ? -1 : a.size > b.size ? 1 : b.index - a.index));
      expect([text, find(networks, text)]).toEqual([text, containing[0]?.index]);
    }
  }
});
