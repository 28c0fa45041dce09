import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, sideBySide } from './lib.mjs';
import { api, build, event, ndjson, startService } from './pipelines.mjs';
import { nextMessage } from './processes.mjs';

const ROUNDS = 7;
/** Records per round, and per body. */
const RECORDS = 10_000;
const PER_BODY = 500;
const KEYS = 1_000;
const nowhere = (name) => ({ name, type: 'dev-null', config: { settings: {}, secrets: {} } });
const users = Array.from({ length: KEYS }, (_, number) => ({ id: event(number).actor.id, name: `User ${number}` }));

/** Returns records per second, from the first byte sent to the last record delivered. */
async function through(load, { url, token, delivered }, bodies) {
  load.send({ next: bodies });
  await nextMessage(load);
  const before = await delivered();
  const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` };
  const started = performance.now();
  load.send({ url, calls: RECORDS / PER_BODY, method: 'POST', headers });
  await nextMessage(load);
  while ((await delivered()) < before + RECORDS) await sleep(5);
  return (RECORDS * 1_000) / (performance.now() - started);
}

/** Records through a node that looks something up, compared with a node that sets a field. */
export default async function enrichments() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-enrichments-'));
  const service = await startService(join(folder, 'data'));
  const load = fork(new URL('load.mjs', import.meta.url));
  try {
    const call = api(service);
    const make = async (path, body) => (await call('POST', path.replace('~', service.org), body)).id;
    const operation = { operation: 'add', arguments: { key: 'user', value: { name: 'Ana' } } };
    const transform = await make('/v1/~/transforms', { name: 'Set a user', config: { operations: [operation] } });

    const table = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
    const filling = await build(call, service.org, table);
    const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${filling.token}` };
    await fetch(filling.url, { method: 'POST', headers, body: users.map((user) => JSON.stringify(user)).join('\n') });
    while ((await filling.delivered()) < KEYS) await sleep(50);

    const csv = `id,name\n${users.map(({ id, name }) => `${id},${name}`).join('\n')}\n`;
    const inline = { table: { type: 'inline', inline: { csv } }, key_column: 'id' };
    const at = (join_path) => ({ join_path, omit_metadata: true });
    const kv = { kv_lookup_output_id: filling.output_id, destination_key: 'user' };
    const cases = [
      { type: 'csv-table', keys: '1,000 keys', settings: { ...inline, ...at('actor.id'), destination_path: 'user' } },
      { type: 'kv-lookup', keys: '1,000 keys', settings: { ...kv, ...at('actor.id') } },
      { type: 'kv-lookup', keys: 'every key for the first time', settings: { ...kv, ...at('id') }, share: 0.2 },
    ];
    const plain = await build(call, service.org, nowhere('Through a transform'), [
      { component_id: transform, component_type: 'transform' },
    ]);
    for (const { type, keys, settings, share = 0.7 } of cases) {
      const name = `${type}, ${keys}`;
      const enrichment = await make('/v3/~/enrichments', { name, type, config: { settings, secrets: {} } });
      const ours = await build(call, service.org, nowhere(name), [
        { component_id: enrichment, component_type: 'enrichment' },
      ]);
      let from = 0;
      const bodies = () =>
        Array.from({ length: RECORDS / PER_BODY }, () => {
          from += PER_BODY;
          return ndjson(PER_BODY, from);
        });
      await through(load, ours, bodies());
      await through(load, plain, bodies());
      const { a, b, ratio } = await sideBySide(
        ROUNDS,
        () => through(load, ours, bodies()),
        () => through(load, plain, bodies()),
      );
      const rates = `${Math.round(a).toLocaleString('en')} records a second against ${Math.round(b).toLocaleString('en')}`;
      report(
        `${RECORDS.toLocaleString('en')} records, ${name}`,
        `${ratio.toFixed(2)} of a transform (${rates})`,
        `at least ${share}`,
        ratio >= share,
      );
    }
  } finally {
    load.kill();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
