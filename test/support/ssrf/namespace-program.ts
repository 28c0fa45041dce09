/**
 * Attacks every connector type in a network namespace where every address is local, and prints a
 * report as JSON. Bundled and run by `ssrf-namespace.test.ts`; `LONG=1`: all cases.
 */
import { connect } from 'node:net';
import type { Lookup } from '../../../packages/engine/src/egress/dial.js';
import { createEgress } from '../../../packages/engine/src/egress/index.js';
import { createCertificate } from '../certificate.js';
import { startDnsServer } from '../dns-server.js';
import { long } from '../long.js';
import { closedAddresses, internalNames, loopbackForms } from './corpus.js';
import { listenEverywhere } from './everywhere.js';
import { probe } from './probe.js';
import { attackedTargets, type Target } from './targets.js';

/** A public address; local in this namespace. */
const PUBLIC = '93.184.216.34';
const HTTP_PORT = 8_088;
const TCP_PORT = 5_432;
const NAME = 'rebind.example';
/** These accept https only. */
const secure = new Set([
  'input:okta-systemlog',
  'output:cribl-http',
  'output:elasticsearch cloud_id',
  'output:exabeam',
  'output:hydrolix',
  'output:panther',
  'output:wazuh',
]);
const portOf = ({ name, http }: Target): number => (secure.has(name) ? 443 : http ? HTTP_PORT : TCP_PORT);

export interface Report {
  /** Positive control: addresses reached without the guard, and by targets without an attack. */
  control: { raw: string[]; targets: Record<string, string[]> };
  /** Attacks with an unexpected result, or that dialed a closed address. */
  broken: { attack: string; target: string; host: string; found: unknown; dialled: string[] }[];
  /** Attacks by name. */
  counts: Record<string, number>;
}

const all = attackedTargets();
const report: Report = { control: { raw: [], targets: {} }, broken: [], counts: {} };
const few = ['169.254.169.254', '::ffff:0:169.254.169.254', '2130706433', 'metadata.google.internal'];
const hosts = long ? [...closedAddresses, ...loopbackForms, ...internalNames] : few;
const closed = long ? closedAddresses : few.filter((host) => closedAddresses.includes(host));

let location: (url: string) => string | undefined = () => undefined;

// Collects the host names of vendors' addresses, for the certificate.
const names = new Set<string>([NAME, `acme-security-logs.${NAME}`]);
const collecting = createEgress({ allow: [], lookup: (name) => (names.add(name), Promise.resolve(['10.0.0.1'])) });
for (const target of all) {
  const config = target.lead(NAME, portOf(target));
  if (config) await probe(target, config, collecting);
}
const certificate = createCertificate(...names);
const everywhere = await listenEverywhere({
  http: [80, HTTP_PORT],
  https: [443],
  tcp: [TCP_PORT],
  certificate,
  respond: (request, response) => {
    request.resume();
    const to = location(request.url ?? '/');
    response.setHeader('connection', 'close');
    response.writeHead(to === undefined ? 503 : 307, to === undefined ? {} : { location: to }).end();
  },
});

/**
 * Shared, because creating a TLS context takes longer than an attack. The server closes every
 * connection, so none is reused.
 */
const egress = createEgress({
  allow: [],
  lookup: (name) => resolve(name),
  ca: certificate.cert,
  timeoutMs: 5_000,
});
let resolve: Lookup = () => Promise.resolve([]);

/** Runs one attack and checks the results and the dialed addresses. */
async function attack(
  name: string,
  target: Target,
  host: string,
  answers: (turn: number) => readonly string[],
  isFine: (found: string[], dialled: string[]) => boolean,
  times = 1,
): Promise<void> {
  const config = target.lead(host, portOf(target));
  if (!config) return;
  const dns = await startDnsServer((_name, turn) => answers(turn));
  resolve = dns.lookup;
  everywhere.dialled();
  let found: string[] = [];
  for (let turn = 0; turn < times; turn += 1) found = Object.values(await probe(target, config, egress));
  await dns.close();
  const dialled = everywhere.dialled();
  report.counts[name] = (report.counts[name] ?? 0) + 1;
  if (!isFine(found, dialled)) report.broken.push({ attack: name, target: target.name, host, found, dialled });
}
const isAscii = (text: string): boolean => /^[!-~]+$/.test(text);
const refused = (found: string[]): boolean => found.every((reason) => reason === 'egress_refused');
const nothing = (dialled: string[]): boolean => dialled.length === 0;
const onlyPublic = (dialled: string[]): boolean => dialled.length === 1 && dialled[0] === PUBLIC;

for (const address of ['169.254.169.254', '203.0.113.7', PUBLIC, '2606:2800:220:1::1']) {
  everywhere.dialled();
  await new Promise<void>((resolve) => connect(80, address).once('connect', resolve));
  await new Promise((resolve) => setImmediate(resolve));
  while (report.control.raw.at(-1) !== address) report.control.raw.push(...everywhere.dialled());
}
for (const target of all) {
  await attack(
    'control',
    target,
    NAME,
    () => [PUBLIC],
    (_found, dialled) => {
      report.control.targets[target.name] = dialled;
      return true;
    },
  );
}

for (const target of all) {
  const slow = target.type.type_id === 'kafka' && !long;
  if (target.typed) {
    for (const host of slow ? [] : hosts) {
      const answers = (): string[] => [PUBLIC];
      await attack('typed', target, host, answers, (found, dialled) => refused(found) && nothing(dialled));
    }
  }
  for (const address of slow ? [] : closed) {
    const answers = (): string[] => [address];
    await attack('resolved', target, NAME, answers, (found, dialled) => refused(found) && nothing(dialled));
  }
  // The first lookup returns the public address, later ones a closed address. A redirect or the
  // next attempt resolves the name again.
  location = (url) => url;
  const turning = (turn: number): string[] => [turn === 0 ? PUBLIC : '169.254.169.254'];
  await attack('rebinding', target, NAME, turning, (found, dialled) => refused(found) && onlyPublic(dialled), 2);
  if (target.http) {
    for (const host of long ? [...closed, ...internalNames.filter(isAscii)] : ['169.254.169.254']) {
      location = () => `http://${host.includes(':') ? `[${host}]` : host}/latest/meta-data/`;
      // A connection test that only reaches the server passes, without following the redirect.
      const isReached = target.type.delivery?.check.kind === 'reach';
      const fine = (found: string[], dialled: string[]): boolean =>
        !(isReached ? found.slice(1) : found).includes('passed') && onlyPublic(dialled);
      await attack('redirect', target, NAME, () => [PUBLIC], fine);
    }
  }
  location = () => undefined;
}
egress.close?.();
await everywhere.close();
process.stdout.write(JSON.stringify(report), () => process.exit(0));
