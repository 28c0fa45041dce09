import { describe, expect, onTestFinished, test } from 'vitest';
import type { Coordinator, Lease } from '../coordinator/coordinator.js';

/** Coordinators of two processes that share their state. */
export interface OpenCoordinators {
  one: Coordinator;
  other: Coordinator;
  /** Advances time by `ms` milliseconds, with a manual clock or by waiting. */
  pass: (ms: number) => Promise<void>;
  /** Stops both and returns the coordinator of a new process on the same state. */
  restart: () => Promise<Coordinator>;
  close: () => Promise<void>;
}

const TTL = 1_000;

function got(lease: Lease | undefined): Lease {
  if (!lease) throw new Error('The lease was not given.');
  return lease;
}

/** Registers the tests that every implementation of `Coordinator` must pass. */
export function runCoordinatorContract(name: string, open: () => Promise<OpenCoordinators>): void {
  const start = async (): Promise<OpenCoordinators> => {
    const opened = await open();
    onTestFinished(() => opened.close());
    return opened;
  };

  describe(`coordinator contract: ${name}`, () => {
    test('a lease has one holder until it expires or is released', async () => {
      const { one, other, pass } = await start();
      const first = got(await one.acquire('p', 'one', TTL));
      expect(await other.acquire('p', 'other', TTL)).toBeUndefined();
      expect(await other.holder('p')).toMatchObject({ holder: 'one', token: first.token });
      await pass(TTL + 1);
      expect(await one.holder('p')).toBeUndefined();
      const second = got(await other.acquire('p', 'other', TTL));
      expect(second.token).toBeGreaterThan(first.token);
      expect(await one.renew(first, TTL)).toBeUndefined();
      await one.release(first);
      expect(await one.acquire('p', 'one', TTL)).toBeUndefined();
      await other.release(second);
      expect(got(await one.acquire('p', 'one', TTL)).token).toBeGreaterThan(second.token);
    });

    test('a restarted worker acquires its lease at once and fences its previous instance', async () => {
      const { one, other } = await start();
      const before = got(await one.acquire('p', 'one', TTL));
      await one.openCursor(before, 'p/in');
      const after = got(await other.acquire('p', 'one', TTL));
      expect(after.token).toBeGreaterThan(before.token);
      expect(await one.renew(before, TTL)).toBeUndefined();
      expect(await one.commitCursor(before, 'p/in', 0, 'late')).toEqual({ ok: false, reason: 'fenced' });
      expect(await other.renew(after, TTL)).toMatchObject({ token: after.token });
    });

    test('a renewed lease is extended; an expired one cannot be renewed', async () => {
      const { one, other, pass } = await start();
      let lease = got(await one.acquire('p', 'one', TTL));
      for (let n = 0; n < 4; n += 1) {
        await pass(TTL * 0.6);
        lease = got(await one.renew(lease, TTL));
      }
      expect(await other.acquire('p', 'other', TTL)).toBeUndefined();
      await pass(TTL + 1);
      expect(await one.renew(lease, TTL)).toBeUndefined();
    });

    test('one of many concurrent requests acquires the lease', async () => {
      const { one, other } = await start();
      const leases = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 ? one : other).acquire('p', `holder-${n}`, TTL)),
      );
      expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    test('a cursor is committed only from the version that was read', async () => {
      const { one } = await start();
      const lease = got(await one.acquire('p', 'one', TTL));
      expect(await one.openCursor(lease, 'p/in')).toEqual({ version: 0 });
      expect(await one.commitCursor(lease, 'p/in', 0, { page: 1 })).toEqual({ ok: true, version: 1 });
      expect(await one.commitCursor(lease, 'p/in', 0, { page: 9 })).toEqual({ ok: false, reason: 'conflict' });
      expect(await one.commitCursor(lease, 'p/in', 1, null)).toEqual({ ok: true, version: 2 });
      expect(await one.openCursor(lease, 'p/in')).toEqual({ version: 2, value: null });
      const both = await Promise.all([1, 2].map((page) => one.commitCursor(lease, 'p/in', 2, { page })));
      expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    });

    test('a worker without the lease can neither commit a cursor nor report', async () => {
      const { one, other, pass } = await start();
      const old = got(await one.acquire('p', 'one', TTL));
      await one.openCursor(old, 'p/in');
      await one.commitCursor(old, 'p/in', 0, 'a');
      await pass(TTL + 1);
      expect(await one.commitCursor(old, 'p/in', 1, 'late')).toEqual({ ok: false, reason: 'fenced' });
      const now = got(await other.acquire('p', 'other', TTL));
      expect(await other.openCursor(now, 'p/in')).toEqual({ version: 1, value: 'a' });
      expect(await one.commitCursor(old, 'p/in', 1, 'late')).toEqual({ ok: false, reason: 'fenced' });
      expect(await one.openCursor(old, 'p/in')).toBeUndefined();
      expect(await one.report(old, 'p', { records: 9 })).toBe(false);
      expect(await other.commitCursor(now, 'p/in', 1, 'b')).toEqual({ ok: true, version: 2 });
    });

    test('stores the desired state and counts its changes', async () => {
      const { one, other } = await start();
      expect(await one.desired('p')).toBeUndefined();
      expect(await one.setDesired('p', true)).toEqual({ enabled: true, revision: 1 });
      expect(await other.setDesired('p', true)).toEqual({ enabled: true, revision: 1 });
      expect(await other.setDesired('p', false)).toEqual({ enabled: false, revision: 2 });
      expect(await one.desired('p')).toEqual({ enabled: false, revision: 2 });
    });

    test('returns the last report and its time to all workers', async () => {
      const { one, other, pass } = await start();
      const lease = got(await one.acquire('p', 'one', 10 * TTL));
      expect(await other.reported('p')).toBeUndefined();
      expect(await one.report(lease, 'p', { records: 1 })).toBe(true);
      const first = await other.reported('p');
      await pass(100);
      await one.report(lease, 'p', { records: 2 });
      const second = await other.reported('p');
      expect(second).toMatchObject({ holder: 'one', value: { records: 2 } });
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(100);
    });

    test('all state survives a restart, and old tokens stay fenced', async () => {
      const opened = await start();
      const lease = got(await opened.one.acquire('p', 'one', TTL));
      await opened.one.openCursor(lease, 'p/in');
      await opened.one.commitCursor(lease, 'p/in', 0, { page: 7 });
      await opened.one.setDesired('p', false);
      await opened.one.report(lease, 'p', { records: 3 });
      const again = await opened.restart();
      expect(await again.acquire('p', 'new', TTL)).toBeUndefined();
      await opened.pass(TTL + 1);
      const next = got(await again.acquire('p', 'new', TTL));
      expect(next.token).toBeGreaterThan(lease.token);
      expect(await again.openCursor(next, 'p/in')).toEqual({ version: 1, value: { page: 7 } });
      expect(await again.desired('p')).toMatchObject({ enabled: false });
      expect(await again.reported('p')).toMatchObject({ value: { records: 3 } });
    });

    test('forget deletes a key and all keys under it, and no others', async () => {
      const { one } = await start();
      for (const key of ['p', 'p2']) {
        const lease = got(await one.acquire(key, 'one', TTL));
        await one.openCursor(lease, `${key}/in`);
        await one.commitCursor(lease, `${key}/in`, 0, 'x');
        await one.setDesired(key, true);
        await one.report(lease, key, null);
      }
      await one.forget('p');
      expect([await one.holder('p'), await one.desired('p'), await one.reported('p')]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      const lease = got(await one.acquire('p', 'two', TTL));
      expect(await one.openCursor(lease, 'p/in')).toEqual({ version: 0 });
      expect(await one.desired('p2')).toMatchObject({ enabled: true });
      expect(await one.holder('p2')).toMatchObject({ holder: 'one' });
      await expect((async () => one.desired('../p q'))()).rejects.toThrow('key');
    });
  });
}
