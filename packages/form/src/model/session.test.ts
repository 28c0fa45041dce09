import { describe, expect, it } from 'vitest';
import { createSession, lifetimeOf } from './session.js';

const tokenOf = (claims: object): string =>
  ['{}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');

function open(first: string) {
  let now = 0;
  let requests = 0;
  const waiting: (() => void)[] = [];
  const session = createSession(first, {
    now: () => now,
    request: () => void (requests += 1),
    sleep: () => new Promise((resolve) => waiting.push(resolve)),
  });
  return {
    session,
    requests: () => requests,
    pass: (ms: number) => (now += ms),
    giveUp: () => waiting.forEach((stop) => stop()),
  };
}

describe('lifetimeOf', () => {
  it('is that of the token, independent of the local clock', () => {
    expect(lifetimeOf(tokenOf({ iat: 1_000, exp: 2_800, name: 'Zoë' }))).toBe(1_800_000);
  });

  it.each([
    '',
    'abc',
    'a.b.c',
    tokenOf({ exp: 5 }),
    tokenOf({ iat: '1', exp: '2' }),
    `x.${Buffer.from('null').toString('base64url')}.y`,
  ])('is infinite for a token without times: %j', (token) => {
    expect(lifetimeOf(token)).toBe(Infinity);
  });
});

describe('createSession', () => {
  it('requests a new token before a call that would outlast the current one', async () => {
    const { session, requests, pass } = open(tokenOf({ iat: 0, exp: 300 }));
    await session.prepare();
    expect(requests()).toBe(0);
    pass(280_000);
    const prepared = session.prepare();
    expect(requests()).toBe(1);
    session.receive('next');
    await prepared;
    expect(session.token).toBe('next');
  });

  it('does not request ahead again after the host sent no new token', async () => {
    const { session, requests, pass, giveUp } = open(tokenOf({ iat: 0, exp: 300 }));
    pass(280_000);
    const prepared = session.prepare();
    giveUp();
    await prepared;
    await session.prepare();
    expect(requests()).toBe(1);
  });

  it('concurrent calls share one request', async () => {
    const { session, requests } = open('first');
    const both = Promise.all([session.renew(), session.renew()]);
    session.receive('next');
    expect(await both).toEqual([true, true]);
    expect(requests()).toBe(1);
  });

  it('gives up if the host does not respond, and requests again later', async () => {
    const { session, requests, giveUp } = open('first');
    const renewed = session.renew();
    giveUp();
    expect(await renewed).toBe(false);
    const again = session.renew();
    expect(requests()).toBe(2);
    session.receive('late');
    expect(await again).toBe(true);
  });
});
