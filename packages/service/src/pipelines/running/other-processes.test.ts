import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/coordinator-contract.js';
import { anyDatabase } from '../../../../../test/support/databases.js';
import { expireEngineLease } from '../../../../../test/support/engine-lease.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import { createLog } from '../../log.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEngineState } from '../../store/engine-state.js';
import { acquireEngineLease } from './engine-lease.js';

/**
 * How an engine reacts to other processes: to their changes in the database, to losing its lease,
 * and to changes made while no engine runs.
 */

const RECORD = '{"n":0}';

/** Creates an input that receives pushed records. */
async function makeInput(service: TestService, { team, key }: Tenant): Promise<string> {
  const body = { name: 'In', type: 'monad-http', config: {} };
  return (await service.call('POST', `/v2/${team}/inputs`, { key, body })).body.id;
}
/** @returns the id of the pipeline */
async function build(service: TestService, { team, key }: Tenant, input: string): Promise<string> {
  const body = { input_id: input, name: 'P' };
  return (await service.call('POST', `/v2/${team}/integrations`, { key, body })).body.pipeline_id;
}

it('detects changes in the database without notifications', async () => {
  const clock = new ManualClock(Date.now());
  const service = await createTestService({ database: await anyDatabase().open(), run: { clock } });
  const acme = await service.tenant('Northwind');
  const input = await makeInput(service, acme);
  const id = await build(service, acme, input);
  const status = async () => {
    clock.advance(1_000);
    return (await service.call('GET', `/v2/${acme.team}/pipelines/${id}/status`, { key: acme.key })).body.status;
  };
  await expect.poll(status).toBe('Running');
  // Simulates another process that can't send notifications.
  await service.database.script((run) => run(`update pipelines set enabled = false, version = version + 1`));
  await expect.poll(status).toBe('Disabled');
  await service.database.script((run) => run('delete from pipelines'));
  const append = async () => {
    clock.advance(1_000);
    return service.engine?.append(input, [RECORD]);
  };
  await expect.poll(append).toEqual({ stored: false, reason: 'no_pipeline' });
  await service.close();
  expect(await service.engine?.append(input, [RECORD])).toEqual({ stored: false, reason: 'closed' });
});

it('rejects records after another process has acquired the engine lease', async () => {
  const clock = new ManualClock(Date.now());
  const service = await createTestService({ database: await anyDatabase().open(), run: { clock } });
  const acme = await service.tenant('Northwind');
  const input = await makeInput(service, acme);
  const id = await build(service, acme, input);
  const status = async () => {
    // A start that fails, for example because the database is slow, is tried again later.
    clock.advance(1_000);
    return (await service.call('GET', `/v2/${acme.team}/pipelines/${id}/status`, { key: acme.key })).body.status;
  };
  await expect.poll(status).toBe('Running');
  expect(await service.engine?.append(input, [RECORD])).toMatchObject({ stored: true });
  await expireEngineLease(service.database);
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const other = await acquireEngineLease({
    folder,
    state: createEngineState(service.database.queries),
    leases: createEngineLeases(service.database.queries),
    clock: new ManualClock(),
    log: createLog('silent'),
  });
  const append = async () => {
    clock.advance(1_000);
    return service.engine?.append(input, [RECORD]);
  };
  await expect.poll(append).toEqual({ stored: false, reason: 'closed' });
  await other.release();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

it('deletes the buffer of an input that was removed from its pipeline while no engine ran', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const database = await anyDatabase().open();
  const first = await createTestService({ database: { ...database, close: async () => undefined }, run: { folder } });
  const acme = await first.tenant('Northwind');
  const [before, after] = [await makeInput(first, acme), await makeInput(first, acme)];
  const id = await build(first, acme, before);
  expect(await first.engine?.append(before, [RECORD, RECORD, RECORD])).toMatchObject({ stored: true });
  await first.close();

  const streams = () => readdir(join(folder, 'streams'));
  const [kept] = await streams();
  expect(kept).toContain(id);
  const node = kept?.slice(id.length + 1);
  await database.script((run) =>
    run(`update pipelines set version = version + 1, nodes = replace(replace(nodes::text, '${node}', 'another'),
      '${before}', '${after}')::jsonb, edges = replace(edges::text, '${node}', 'another')::jsonb`),
  );
  const second = await createTestService({ database, master: first.master, run: { folder } });
  await second.engine?.started;
  expect(await second.engine?.append(after, [RECORD])).toMatchObject({ stored: true });
  expect(await streams()).toEqual([`${id}.another`]);
  await second.close();
  await rm(folder, { recursive: true, force: true });
});
