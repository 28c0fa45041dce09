/**
 * S10, S35: runs the corpus of closed addresses through the real connection test and the real
 * runtime of every connector type, with configurations that the catalog's validator accepts.
 * Sockets are limited to loopback here; `ssrf-namespace.test.ts` runs the corpus on real sockets.
 */
import diagnostics from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startDnsServer } from '../../../test/support/dns-server.js';
import { startKafkaBroker } from '../../../test/support/kafka-broker.js';
import { listenHttp, listenTcp } from '../../../test/support/listener.js';
import { long } from '../../../test/support/long.js';
import { keepToLoopback, type Leash } from '../../../test/support/loopback-only.js';
import { closedAddresses, internalNames, loopbackForms } from '../../../test/support/ssrf/corpus.js';
import { probe, type Probed } from '../../../test/support/ssrf/probe.js';
import { runs, sampledTargets, targets, type Target } from '../../../test/support/ssrf/targets.js';
import { createEgress, type Egress } from '@connector-frame/engine/egress';

/** A host name of a reserved top-level domain (RFC 2606). */
const NAME = 'rebind.example';
const PORT = 8_088;
const all = sampledTargets(6);
const typed = all.filter((target) => target.typed);

/** Kafka's client waits between attempts: half a second per case. */
const few = ['metadata.google.internal'];
const casesOf = ({ http, type }: Target): string[] => {
  const cases = [...closedAddresses, ...loopbackForms, ...internalNames];
  return long || http || type.type_id !== 'kafka' ? cases : few;
};
const resolvedOf = ({ http }: Target): string[] => {
  if (long) return closedAddresses;
  const some = [
    '169.254.169.254',
    '::ffff:0:a9fe:a9fe',
    '127.0.0.1',
    '10.0.0.1',
    '168.63.129.16',
    '::1',
    'fd00:ec2::254',
  ];
  return http ? some : some.slice(0, 1);
};

let leash: Leash;
let dialled = 0;
const countDial = (): void => void (dialled += 1);
beforeAll(() => {
  leash = keepToLoopback();
  diagnostics.subscribe('net.client.socket', countDial);
});
afterAll(() => {
  diagnostics.unsubscribe('net.client.socket', countDial);
  leash.release();
});

/**
 * The expected result: the egress guard refuses the connection test and the runtime, where present.
 */
const refusedBy = ({ code }: Target): Probed => ({
  ...(code.testConnection && { test: 'egress_refused' }),
  ...(runs(code) && { run: 'egress_refused' }),
});
async function expectRefused(target: Target, host: string, egress: Egress): Promise<boolean> {
  const config = target.lead(host, PORT);
  if (!config) return false;
  const before = dialled;
  expect({ host, ...(await probe(target, config, egress)) }).toEqual({ host, ...refusedBy(target) });
  expect([host, dialled - before, leash.heldBack]).toEqual([host, 0, []]);
  return true;
}

test('covers every connector type that opens connections', () => {
  const types = new Set(targets().map(({ type }) => `${type.kind}:${type.type_id}`));
  expect(types.size).toBeGreaterThanOrEqual(25);
  for (const name of ['output:http', 'input:postgresql', 'output:kafka', 'input:s3', 'output:object-storage'])
    expect(types).toContain(name);
  for (const name of [
    'output:elasticsearch',
    'output:opensearch',
    'output:splunk',
    'output:datadog',
    'input:snyk-issues',
  ])
    expect(types).toContain(name);
});

describe('a configured address (S10, S35)', () => {
  test.each(typed.map((target) => [target.name, target] as const))(
    '%s: every notation of every closed address is refused before a socket is made',
    async (_name, target) => {
      const egress = createEgress({ allow: [], lookup: (name) => Promise.reject(new Error(`${name} was looked up`)) });
      const named = createEgress({ allow: [], lookup: () => Promise.resolve(['93.184.216.34']) });
      let reached = 0;
      for (const host of casesOf(target)) {
        if (await expectRefused(target, host, isName(host) ? named : egress)) reached += 1;
      }
      // Most notations pass the validator, so the egress guard itself was tested.
      expect(reached).toBeGreaterThanOrEqual(Math.min(40, casesOf(target).length / 2));
    },
    300_000,
  );
});

describe('a name that resolves to a closed address (S10, S35)', () => {
  test.each(all.map((target) => [target.name, target] as const))(
    '%s: is refused, also beside an open address',
    async (_name, target) => {
      for (const address of resolvedOf(target)) {
        const dns = await startDnsServer(() => [address]);
        const mixed = await startDnsServer(() => ['93.184.216.34', address, '2606:2800:220:1::1']);
        try {
          for (const { lookup } of target.http ? [dns, mixed] : [dns]) {
            expect(await expectRefused(target, NAME, createEgress({ allow: [], lookup }))).toBe(true);
          }
          expect(dns.asked.length).toBeGreaterThan(0);
        } finally {
          await dns.close();
          await mixed.close();
        }
      }
    },
    300_000,
  );
});

/** Accepts the first connection and makes the client connect again. */
async function openServer(target: Target): Promise<{ port: number; connections(): number; close(): Promise<void> }> {
  if (!target.http) return listenTcp((socket) => socket.end('hello\r\n'), '127.0.0.2');
  return listenHttp(
    (request, response) => response.writeHead(307, { location: `${request.url}&again` }).end(),
    '127.0.0.2',
  );
}

/** Opens that server, and on the same port of 127.0.0.1 one that must not be reached. */
async function openServers(target: Target) {
  for (;;) {
    const server = await openServer(target);
    const inside = await listenTcp((socket) => socket.destroy(), '127.0.0.1', server.port).catch(() => undefined);
    if (inside) return { server, inside };
    // Another program uses this port of 127.0.0.1.
    await server.close();
  }
}

describe('a name that changes its address between two connections (S10)', () => {
  test.each(
    typed.filter(({ name }) => name !== 'input:okta-systemlog').map((target) => [target.name, target] as const),
  )('%s: the second one is refused', async (_name, target) => {
    const { server, inside } = await openServers(target);
    // 127.0.0.2 is allowed and represents a public address.
    const dns = await startDnsServer((_host, turn) => [turn === 0 ? '127.0.0.2' : '127.0.0.1']);
    const egress = createEgress({ allow: ['127.0.0.2/32'], lookup: dns.lookup });
    onTestFinished(async () => {
      egress.close?.();
      await Promise.all([server.close(), inside.close(), dns.close()]);
    });
    const config = target.lead(NAME, server.port);
    if (!config) throw new Error('no configuration');
    const first = await probe(target, config, egress);
    // Not every client reconnects by itself.
    const second = await probe(target, config, egress);
    expect(Object.values(first).concat(Object.values(second))).not.toContain('passed');
    expect(second).toEqual(refusedBy(target));
    expect(server.connections()).toBeGreaterThan(0);
    expect(inside.connections()).toBe(0);
    expect(dns.asked.length).toBeGreaterThan(1);
  });
});

/** 127.0.0.1 is allowed for the broker itself, so its other notations are allowed as well. */
const opened = /^(127\.0\.0\.1|::(ffff:)?7f00:1|::ffff:127\.0\.0\.1|64:ff9b::7f00:1)$/;

const lookup = (name: string): Promise<string[]> =>
  Promise.resolve(name === 'metadata.google.internal' ? ['93.184.216.34'] : ['10.0.0.1']);

describe('an address that a Kafka broker advertises (S10, S35)', () => {
  const cases = long
    ? [...closedAddresses.filter((each) => !opened.test(each)), '0x7f.2', 'metadata.google.internal', NAME]
    : [NAME];

  test.each(all.filter(({ type }) => type.type_id === 'kafka').map((target) => [target.name, target] as const))(
    '%s: is refused like a configured one',
    async (_name, target) => {
      for (const host of cases) {
        const broker = await startKafkaBroker({ topics: { events: 1 }, advertise: { host, port: PORT } });
        const egress = createEgress({ allow: ['127.0.0.1/32'], lookup });
        const config = target.lead('127.0.0.1', broker.port);
        if (!config) throw new Error('no configuration');
        const topics = 'topics' in config.settings ? { topics: ['events'] } : { topic: 'events' };
        const found = await probe(target, { ...config, settings: { ...config.settings, ...plain, ...topics } }, egress);
        expect({ host, run: found.run }).toEqual({ host, run: 'egress_refused' });
        expect(broker.connections()).toBeGreaterThan(0);
        expect([host, leash.heldBack]).toEqual([host, []]);
        egress.close?.();
        await broker.close();
      }
    },
    300_000,
  );
  const plain = { security_protocol: 'PLAINTEXT' };
});

function isName(host: string): boolean {
  return internalNames.includes(host);
}
