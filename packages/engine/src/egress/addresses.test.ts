/** S10, S35: which addresses are allowed, by classification alone. No connection is opened. */
import { describe, expect, test } from 'vitest';
import { createAddressPolicy } from './addresses.js';

/**
 * Closed ranges, each with the last address before it and the first one after it where those are
 * allowed.
 */
const closed: readonly [cidr: string, before: string | undefined, after: string | undefined][] = [
  ['0.0.0.0/8', undefined, '1.0.0.0'],
  ['10.0.0.0/8', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16/32', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0/16', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0/24', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0/15', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4', '223.255.255.255', undefined],
  ['240.0.0.0/4', undefined, undefined],
  ['::/128', undefined, undefined],
  ['::1/128', undefined, undefined],
  ['::ffff:0:0:0/96', '::fffe:ffff:ffff:ffff', '::ffff:1:0:0'],
  ['64:ff9b:1::/48', '64:ff9b:0:ffff:ffff:ffff:ffff:ffff', '64:ff9b:2::'],
  ['100::/64', 'ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '100:0:0:1::'],
  ['2001::/32', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined],
  ['2001:db8::/32', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::/16', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['fc00::/7', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe00::'],
  ['fe80::/10', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined],
  ['ff00::/8', undefined, undefined],
];

const nobody = createAddressPolicy([]);

/** Returns the first and last address of a range, computed from its textual form. */
function ends(cidr: string): [string, string] {
  const [base = '', length = ''] = cidr.split('/');
  const [width, size] = base.includes(':') ? [128n, 16n] : [32n, 8n];
  const first = toNumber(base);
  const last = first | ((1n << (width - BigInt(length))) - 1n);
  const written = (value: bigint): string => {
    const parts: string[] = [];
    for (let shift = width - size; shift >= 0n; shift -= size) {
      parts.push(((value >> shift) & ((1n << size) - 1n)).toString(width === 128n ? 16 : 10));
    }
    return parts.join(width === 128n ? ':' : '.');
  };
  return [written(first), written(last)];
}

function toNumber(base: string): bigint {
  if (!base.includes(':')) return base.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  const [head = '', tail = ''] = base.split('::');
  const [left, right] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [
    ...(left ?? []),
    ...Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill('0'),
    ...(right ?? []),
  ];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

const low = (address: string): string =>
  toNumber(address)
    .toString(16)
    .padStart(8, '0')
    .replace(/(....)(....)/, '$1:$2');

/** Inverts all bits, as Teredo stores the client's address (RFC 4380). */
const inverted = (address: string): string =>
  address
    .split('.')
    .map((part) => 255 - Number(part))
    .join('.');

/** IPv6 notations of an IPv4 address that a gateway or the kernel translates back to it. */
const embeddings: Readonly<Record<string, (address: string) => string>> = {
  'IPv4-compatible ::/96': (address) => `::${low(address)}`,
  'IPv4-mapped ::ffff:0:0/96': (address) => `::ffff:${low(address)}`,
  'IPv4-translated ::ffff:0:0:0/96': (address) => `::ffff:0:${low(address)}`,
  'NAT64 64:ff9b::/96': (address) => `64:ff9b::${low(address)}`,
  '6to4 2002::/16': (address) => `2002:${low(address)}::`,
  'Teredo 2001::/32': (address) => `2001:0:4136:e378:8000:63bf:${low(inverted(address))}`,
};

const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '127.0.0.1',
  '10.0.0.1',
];

describe('closed addresses (S10, S35)', () => {
  test.each(closed)('%s is closed from its first to its last address', (cidr, before, after) => {
    for (const address of ends(cidr)) expect([address, nobody.permits(address)]).toEqual([address, false]);
    for (const address of [before, after]) {
      if (address !== undefined) expect([address, nobody.permits(address)]).toEqual([address, true]);
    }
  });

  test.each(Object.entries(embeddings))('a closed IPv4 address as %s', (_name, embed) => {
    for (const address of metadata) {
      for (const text of [embed(address), embed(address).toUpperCase()]) {
        expect([text, nobody.permits(text)]).toEqual([text, false]);
      }
    }
  });

  test('an open IPv4 address embedded in IPv6 is open only where the range itself is open', () => {
    const open = Object.entries(embeddings).filter(([, embed]) => nobody.permits(embed('93.184.216.34')));
    expect(open.map(([name]) => name)).toEqual([
      'IPv4-compatible ::/96',
      'IPv4-mapped ::ffff:0:0/96',
      'NAT64 64:ff9b::/96',
    ]);
  });

  test.each(Object.entries(embeddings))('an opened %s does not open what it carries', (name, embed) => {
    const policy = createAddressPolicy([name.split(' ')[1] ?? '']);
    for (const address of metadata) expect([address, policy.permits(embed(address))]).toEqual([address, false]);
    expect(policy.permits(embed('93.184.216.34'))).toBe(true);
  });

  test('all addresses of cloud metadata services', () => {
    const addresses = ['fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fe80::a9fe:a9fe', ...metadata];
    for (const address of addresses) expect([address, nobody.permits(address)]).toEqual([address, false]);
  });

  test.each([
    '',
    'example.com',
    '127.1',
    '0x7f.1',
    '2130706433',
    '8.8.8.8 ',
    '[::1]',
    '8.8.8.8/32',
    'fe80::1%eth0',
    '::ffff:0:127.0.0.256',
  ])('"%s" is not an address', (text) => expect(nobody.permits(text)).toBe(false));

  test('ranges that the operator allows are open', () => {
    const policy = createAddressPolicy(['168.63.129.16/32', '10.0.0.0/8', '::ffff:0:0:0/96']);
    for (const address of ['168.63.129.16', '10.2.3.4', '::ffff:0:a02:304', '::ffff:a02:304']) {
      expect([address, policy.permits(address)]).toEqual([address, true]);
    }
    for (const address of ['169.254.169.254', '::ffff:0:a9fe:a9fe', '11.0.0.1']) {
      expect([address, policy.permits(address)]).toEqual([address, address === '11.0.0.1']);
    }
  });
});
