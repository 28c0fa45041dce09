import { describe, expect, it } from 'vitest';
import { createClientAddress } from './client-address.js';

describe('createClientAddress (S27)', () => {
  const behindProxies = createClientAddress(['10.0.0.0/8', '192.0.2.1', 'fd00::/8']);

  it.each([
    ['a client without a proxy or a header', '198.51.100.1', undefined, '198.51.100.1'],
    ['a header from a client that is not a proxy', '198.51.100.1', '203.0.113.1', '198.51.100.1'],
    ['one proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['two proxies', '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['a client that prepends', '10.0.0.1', '203.0.113.1, 198.51.100.1', '198.51.100.1'],
    ['a client that claims to be a proxy', '10.0.0.1', '203.0.113.1, 10.9.9.9', '203.0.113.1'],
    ['a proxy without a header', '10.0.0.1', undefined, '10.0.0.1'],
    ['an invalid header', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['an invalid address in the header', '10.0.0.1', '198.51.100.1, x, 10.0.0.2', '10.0.0.2'],
    ['an IPv4 peer on an IPv6 socket', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['an IPv6 proxy', 'fd00::1', '198.51.100.1', '198.51.100.1'],
    ['a request without a peer', undefined, '198.51.100.1', 'unknown'],
  ])('returns the expected address for %s', (_name, peer, forwarded, expected) => {
    expect(behindProxies(peer, forwarded)).toBe(expected);
  });

  it('groups the addresses of an IPv6 /64 network', () => {
    expect(behindProxies('2001:db8::1', undefined)).toBe(behindProxies('2001:db8::ffff:1', undefined));
    expect(behindProxies('2001:db8::1', undefined)).not.toBe(behindProxies('2001:db8:0:1::1', undefined));
  });

  it('trusts no proxy by default', () => {
    expect(createClientAddress([])('10.0.0.1', '198.51.100.1')).toBe('10.0.0.1');
  });

  it('rejects an invalid range', () => {
    expect(() => createClientAddress(['10.0.0.0/33'])).toThrow('10.0.0.0/33');
    expect(() => createClientAddress(['proxy.internal'])).toThrow('proxy.internal');
  });
});
