import { loadCatalog } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectors } from '../../packages/connectors/src/index.js';
import { awsRoles as aws } from '../support/aws-roles.js';
import {
  DocumentedVendor,
  isDocumented,
  readDocumented,
  type DocumentedInput,
} from '../support/documented-exchanges.js';
import { Driver, leadTo, TestClock } from '../support/poll-driver.js';
import { secretsOf } from '../support/secret-texts.js';
import { startVendor, type Reply, type Vendor } from '../support/vendor.js';

let server: Vendor;
let respond: (request: Parameters<DocumentedVendor['respond']>[0], origin: string) => Reply;
beforeAll(async () => {
  server = await startVendor((request) => respond(request, String(request.headers['x-asked-origin'])));
});
afterAll(() => server.close());

describe.each(readDocumented<DocumentedInput>('input'))('%s', (typeId, documented) => {
  const type = loadCatalog().get('input', typeId);
  if (!type) throw new Error(`${typeId} is not an input`);
  const { config, exchanges, records, now = '2026-03-10T12:00:00Z' } = documented;

  /** Opens the input and its connection test against a vendor that responds as documented. */
  const open = (vendor = new DocumentedVendor(exchanges)) => {
    const clock = new TestClock();
    clock.ms = Date.parse(now);
    respond = (request, origin) => {
      const reply = vendor.respond(request, origin);
      return { ...reply, headers: { date: new Date(clock.ms).toUTCString(), ...reply.headers } };
    };
    const egress = leadTo(server.origin, vendor.origins, (origin) =>
      vendor.unknown.push(`${origin} is not documented`),
    );
    const driver = new Driver(() => {
      const input = connectors(type).createInput?.(config, { type, egress, clock, aws });
      if (input?.kind !== 'pages') throw new Error(`${typeId} cannot be polled`);
      return input;
    });
    const testConnection = () =>
      connectors(type).testConnection?.(config, { egress, aws, signal: new AbortController().signal });
    return { vendor, driver, testConnection };
  };

  test('sends the documented requests and delivers the documented records', async () => {
    expect(validateConfig(type.config, config)).toEqual([]);
    const { vendor, driver, testConnection } = open();
    await driver.poll();
    expect(vendor.unknown).toEqual([]);
    if (typeof records === 'number') {
      expect(driver.delivered.filter((record) => !isDocumented(record, exchanges))).toEqual([]);
      expect(driver.delivered).toHaveLength(records);
    } else expect(driver.delivered).toEqual(records);
    expect(await testConnection()).toMatchObject({ ok: true });
    expect(vendor.unknown).toEqual([]);
    expect(vendor.unused).toEqual([]);
  });

  test('reports a rejected secret without quoting it', async () => {
    const { driver, testConnection } = open();
    respond = ({ headers, body }) => ({ status: 401, body: { error: `${JSON.stringify(headers)} ${body}` } });
    const failure = await driver.fails();
    const outcome = await testConnection();
    expect(outcome).toMatchObject({ ok: false });
    const told = `${failure.code} ${failure.message} ${JSON.stringify(outcome)}`;
    for (const secret of secretsOf(config.secrets)) expect(told).not.toContain(secret);
  });
});
