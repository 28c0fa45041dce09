import { gunzipSync } from 'node:zlib';
import { loadCatalog, type ConnectorConfig } from '@connector-frame/catalog';
import {
  createBatch,
  systemClock,
  type Clock,
  type Egress,
  type PageInput,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { ManualClock } from '@connector-frame/engine/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_KEY, APP, startAzurite, type Azurite } from '../../../../test/support/azurite.js';
import { long } from '../../../../test/support/long.js';
import { read } from '../../../../test/support/s3-reading.js';
import { connectors } from '../index.js';

// Azurite is Microsoft's own emulator. It verifies signatures, tokens, conditions and checksums.
let azure: Azurite;
beforeAll(async () => {
  if (!long) return;
  azure = await startAzurite();
  for (const name of ['logs', 'flat', 'insights-logs-auditevent', 'insights-logs-flowlogflowevent'])
    await azure.createContainer(name);
});
afterAll(() => azure?.close());

const never = new AbortController().signal;
const YEAR_2020 = '2020-01-01T00:00:00Z';

function typeOf(kind: 'input' | 'output', typeId: string) {
  const type = loadCatalog().get(kind, typeId);
  if (!type) throw new Error(`${typeId} is not in the catalog`);
  return type;
}

function openInput(
  typeId: string,
  config: ConnectorConfig,
  egress = azure.egress,
  clock: Clock = systemClock,
): PageInput {
  const type = typeOf('input', typeId);
  const input = connectors(type).createInput?.(config, { type, egress, clock });
  if (input?.kind !== 'pages') throw new Error(`${typeId} has no input`);
  return input;
}

const tryConnection = (
  kind: 'input' | 'output',
  typeId: string,
  config: ConnectorConfig,
): Promise<TestOutcome> | undefined =>
  connectors(typeOf(kind, typeId)).testConnection?.(config, { egress: azure.egress, signal: never });

const storage = (settings: object = {}, secrets: object = {}): ConnectorConfig => ({
  settings: { account_url: azure.url, container: 'logs', backfill_start_time: YEAR_2020, ...settings },
  secrets: { tenant_id: azure.tenant, ...APP, ...secrets },
});
const lines = (...numbers: number[]): string => numbers.map((n) => `${JSON.stringify({ n })}\n`).join('');

describe.runIf(long)('azure-blob-storage', () => {
  test('reads blobs once, with any character in their names, as an app of Entra', async () => {
    const keys = ["a b+c%20&d='é😀.json", 'x/<>"\\?#[]{}|^`~!*()', '%2e%2e/x'];
    for (const [n, key] of keys.entries()) await azure.put('logs', `names/${key}`, lines(n));
    const first = await read(openInput('azure-blob-storage', storage({ prefix: 'names/' })));
    expect(first.numbers.map(Number).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
    expect((await read(openInput('azure-blob-storage', storage({ prefix: 'names/' })), first.cursor)).numbers).toEqual(
      [],
    );
    await azure.put('logs', 'names/new', lines(3));
    expect((await read(openInput('azure-blob-storage', storage({ prefix: 'names/' })), first.cursor)).numbers).toEqual([
      3,
    ]);
    expect(azure.tokenRequests[0]).toEqual({
      grant_type: 'client_credentials',
      scope: 'https://storage.azure.com/.default',
      ...APP,
    });
  });

  test('lists more blobs than one page has', async () => {
    for (const n of [0, 1, 2, 3, 4]) await azure.put('logs', `many/${n}`, lines(n));
    const egress: Egress = {
      ...azure.egress,
      fetch: (url, init) =>
        azure.egress.fetch(`${url}${String(url).includes('comp=list') ? '&maxresults=2' : ''}`, init),
    };
    const input = openInput('azure-blob-storage', storage({ prefix: 'many/' }), egress);
    expect((await read(input)).numbers).toEqual([0, 1, 2, 3, 4]);
  });

  test('lists only the folders of the last days between full listings', async () => {
    const clock = new ManualClock(Date.now());
    const settings = {
      prefix: 'days/',
      partition_format: 'custom',
      partition_format_template: 'y={year}/m={month}/d={day}/h={hour}',
    };
    const input = openInput('azure-blob-storage', storage(settings), azure.egress, clock);
    const folder = (days: number): string => {
      const [year, month, day] = new Date(clock.now() - days * 86_400_000).toISOString().slice(0, 10).split('-');
      return `days/y=${year}/m=${month}/d=${day}/h=01`;
    };
    await azure.put('logs', `${folder(0)}/a`, lines(0));
    const first = await read(input);
    await azure.put('logs', `${folder(0)}/b`, lines(1));
    await azure.put('logs', `${folder(9)}/late`, lines(2));
    const second = await read(input, first.cursor);
    clock.advance(3_600_000);
    const third = await read(input, second.cursor);
    expect([first.numbers, second.numbers, third.numbers]).toEqual([[0], [1], [2]]);
  });

  test('reads an append blob from where it was read to', async () => {
    await azure.append('logs', 'grow/a.json', `${lines(0, 1)}{"n":`);
    const config = storage({ prefix: 'grow/' });
    const first = await read(openInput('azure-blob-storage', config));
    expect(first.numbers).toEqual([0, 1]);
    await azure.append('logs', 'grow/a.json', `2}\n${lines(3)}`);
    const second = await read(openInput('azure-blob-storage', config), first.cursor);
    expect(second.numbers).toEqual([2, 3]);
    expect((await read(openInput('azure-blob-storage', config), second.cursor)).numbers).toEqual([]);
  });

  test('writes records, and replaces the blob when a batch is repeated', async () => {
    const type = typeOf('output', 'azure-blob-storage');
    const settings = { prefix: 'out', format_config: { Format: 'json', json_format: { type: 'line' } } };
    const config = storage(settings);
    const output = connectors(type).createOutput?.(config, { type, egress: azure.egress, clock: systemClock });
    await output?.open?.(never);
    for (let n = 0; n < 2; n += 1)
      expect(await output?.write(createBatch('batch-1', ['{"n":1}', '{"n":2}']), never)).toEqual({});
    expect(gunzipSync(await azure.get('logs', 'out/records-batch-1.json.gz')).toString()).toBe(lines(1, 2));
    expect((await read(openInput('azure-blob-storage', storage({ prefix: 'out/' })))).numbers).toEqual([1, 2]);
  });

  test('tests a connection without writing, and explains failures', async () => {
    await expect(tryConnection('output', 'azure-blob-storage', storage({ container: 'flat' }))).resolves.toEqual({
      ok: true,
      summary: 'May write to the container. Nothing was written',
    });
    await expect(tryConnection('input', 'azure-blob-storage', storage({ container: 'flat' }))).resolves.toEqual({
      ok: true,
      summary: 'Listed the container: no blob there yet',
    });
    for (const kind of ['input', 'output'] as const) {
      await expect(tryConnection(kind, 'azure-blob-storage', storage({ container: 'none' }))).resolves.toMatchObject({
        ok: false,
        reason: 'not_found',
        issues: [{ path: '/settings/container' }],
      });
      await expect(
        tryConnection(kind, 'azure-blob-storage', storage({}, { client_secret: 'wrong-secret' })),
      ).resolves.toMatchObject({
        ok: false,
        reason: 'invalid_credentials',
        issues: [{ path: '/secrets/client_secret' }],
      });
    }
  });
});

const vault = (secrets = { account_key: ACCOUNT_KEY }): ConnectorConfig => ({
  settings: { account_name: 'acmelogs', container_name: 'insights-logs-auditevent' },
  secrets,
});
const vaultLog = (hour: string): string =>
  `resourceId=/SUBSCRIPTIONS/1/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.KEYVAULT/VAULTS/V/y=2026/m=11/d=12/h=${hour}/m=00/PT1H.json`;
// https://learn.microsoft.com/azure/network-watcher/vnet-flow-logs-overview#log-format
const flow = (n: number, network = 'vnet-production'): object => ({
  time: '2026-11-12T01:00:00.0000000Z',
  category: 'FlowLogFlowEvent',
  targetResourceID: `/subscriptions/1/resourceGroups/RG-net/providers/Microsoft.Network/virtualNetworks/${network}`,
  n,
});
const flowLog = (region: string): string =>
  `flowLogResourceID=/1_NETWORKWATCHERRG/NETWORKWATCHER_${region}_VNET-RG-FLOWLOGS/y=2026/m=11/d=12/h=01/m=00/macAddress=00224871C205/PT1H.json`;

describe.runIf(long)('platform logs', () => {
  test('reads audit events of Key Vault as they are appended', async () => {
    const input = openInput('azure-key-vault-logs', vault());
    const first = await read(input);
    expect(first.numbers).toEqual([]);
    await azure.append('insights-logs-auditevent', vaultLog('01'), lines(0));
    const second = await read(input, first.cursor);
    await azure.append('insights-logs-auditevent', vaultLog('01'), lines(1));
    await azure.append('insights-logs-auditevent', vaultLog('02'), lines(2));
    const third = await read(openInput('azure-key-vault-logs', vault()), second.cursor);
    expect([second.numbers, third.numbers.map(Number).toSorted((a, b) => a - b)]).toEqual([[0], [1, 2]]);
    await expect(tryConnection('input', 'azure-key-vault-logs', vault())).resolves.toMatchObject({ ok: true });
  });

  test('reports a wrong account key at its field', async () => {
    const config = vault({ account_key: Buffer.alloc(64, 'other').toString('base64') });
    await expect(tryConnection('input', 'azure-key-vault-logs', config)).resolves.toMatchObject({
      ok: false,
      issues: [{ path: '/secrets/account_key' }],
    });
  });

  test('reads flow logs, whose end moves with every block, of the chosen network', async () => {
    const container = 'insights-logs-flowlogflowevent';
    const write = (records: object[], region = 'EASTUS'): Promise<void> =>
      azure.put(container, flowLog(region), `{"records":[${records.map((each) => JSON.stringify(each)).join(',')}]}`);
    const config: ConnectorConfig = {
      settings: {
        storage_account_url: azure.url,
        region: 'eastus',
        tenant_id: azure.tenant,
        resource_group_name: 'rg-NET',
        virtual_network_name: 'vnet-production',
      },
      secrets: APP,
    };
    const first = await read(openInput('microsoft-azure-vnet-flow-logs', config));
    await write([flow(0)]);
    await write([flow(9)], 'WESTUS');
    const second = await read(openInput('microsoft-azure-vnet-flow-logs', config), first.cursor);
    await write([flow(0), flow(1, 'other'), flow(2)]);
    const third = await read(openInput('microsoft-azure-vnet-flow-logs', config), second.cursor);
    expect([second.numbers, third.numbers]).toEqual([[0], [2]]);
  });
});
