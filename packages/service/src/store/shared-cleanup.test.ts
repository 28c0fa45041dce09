import { afterAll, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../../test/support/databases.js';
import { createSharedCounts, removeOrphans } from './shared-cleanup.js';

const databases = postgresql();
afterAll(() => databases.close());

it('removes what belongs to pipelines that are gone, and nothing of the others', async () => {
  const database = await databases.open();
  onTestFinished(() => database.close());
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  await pool.query(`insert into organizations (id, name, description, friendly_name, allowed_origins, created_at, updated_at)
    values ('o', 'O', '', '', '{}', now(), now())`);
  await pool.query(`insert into pipelines (id, organization_id, name, description, enabled, nodes, edges, version, created_at, updated_at)
    values ('p', 'o', 'q', '', true, '[]', '[]', 1, now(), now())`);
  const counts = createSharedCounts(pool);
  for (const id of ['p', 'q']) {
    await pool.query(`insert into engine_leases (pipeline_id, member_id, token) values ($1, 'm', 1)`, [id]);
    await pool.query(
      'insert into bus_streams (name, version, sequence, batches, records, bytes) values ($1, 1, 0, 0, 0, 0)',
      [`${id}.in`],
    );
    for (const key of [`cursor:${id}/in/`, `report:${id}/`])
      await pool.query(`insert into engine_state (key, version, value) values ($1, 1, '{}')`, [key]);
    await counts.add([{ pipelineId: id, counts: '{}' }]);
    await pool.query(`insert into engine_logs (pipeline_id, logged_at, entry) values ($1, 0, '{}')`, [id]);
  }
  await pool.query(`insert into engine_state (key, version, value) values ('alerts', 1, '{}')`);
  await removeOrphans(pool);
  const left = async (query: string) => (await pool.query<{ id: string }>(query)).rows.map(({ id }) => id);
  expect(await left('select name as id from bus_streams')).toEqual(['p.in']);
  expect(await left('select pipeline_id as id from engine_leases')).toEqual(['p']);
  expect(await left('select pipeline_id as id from engine_logs')).toEqual(['p']);
  expect(await left('select key as id from engine_state order by key')).toEqual([
    'alerts',
    'cursor:p/in/',
    'report:p/',
  ]);
  expect(await counts.take(['p', 'q'])).toEqual([{ pipelineId: 'p', counts: '{}' }]);
});
