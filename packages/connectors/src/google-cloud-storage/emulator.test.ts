import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@connector-frame/catalog';
import { createBatch, systemClock, type Egress } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { expect, test } from 'vitest';
import { startServer } from '../../../../test/support/brokers/start-server.js';
import { freePort } from '../../../../test/support/free-port.js';
import { generateServiceAccount } from '../../../../test/support/documented-exchanges.js';
import { long } from '../../../../test/support/long.js';
import { read } from '../../../../test/support/s3-reading.js';
import { connectors } from '../index.js';

const BUCKET = 'acme-security-logs';
const never = new AbortController().signal;
const secrets = { credentials_json: generateServiceAccount() };

/** Installs gcp-storage-emulator from PyPI into a virtual environment. */
function installEmulator(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gcs-emulator-'));
  for (const [program, ...options] of [
    ['python3', '-m', 'venv', folder],
    [join(folder, 'bin/pip'), 'install', '--quiet', 'gcp-storage-emulator==2024.8.3'],
  ] as const) {
    const { status, stderr } = spawnSync(program, options, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} failed. Debian: apt-get install python3-venv. ${stderr}`);
  }
  return join(folder, 'bin/gcp-storage-emulator');
}

// The emulator is an independent implementation of the JSON API: github.com/oittaa/gcp-storage-emulator.
test.runIf(long)('writes to and reads from gcp-storage-emulator', { timeout: 120_000 }, async () => {
  const port = await freePort();
  const options = ['start', '--host=127.0.0.1', `--port=${port}`, '--in-memory', `--default-bucket=${BUCKET}`];
  const server = await startServer(installEmulator(), options, port, 'pip install gcp-storage-emulator');
  const real = createEgress({ allow: ['127.0.0.0/8'] });
  const egress: Egress = {
    ...real,
    fetch(address, init) {
      const { hostname, pathname, search } = new URL(address);
      if (hostname !== 'oauth2.googleapis.com') return real.fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
      return Promise.resolve(Response.json({ access_token: 'token', expires_in: 3599, token_type: 'Bearer' }));
    },
  };
  try {
    const [from, to] = [
      loadCatalog().get('input', 'google-cloud-storage'),
      loadCatalog().get('output', 'google-cloud-storage'),
    ];
    if (!from || !to) throw new Error('The types are missing.');
    const settings = { bucket: BUCKET, prefix: 'out', compression: 'gzip' };
    const output = connectors(to).createOutput?.({ settings, secrets }, { type: to, egress, clock: systemClock });
    await output?.open?.(never);
    for (const n of [1, 2, 2])
      expect(await output?.write(createBatch(`batch-${n}`, [`{"n":${n}}`, `{"n":"ä ${n}"}`]), never)).toEqual({});
    const reading = { bucket_name: BUCKET, project_id: 'acme-prod-4711', backfill_start_time: '2020-01-01T00:00:00Z' };
    const config = { settings: { ...reading, prefix: 'out/' }, secrets };
    const input = connectors(from).createInput?.(config, { type: from, egress, clock: systemClock });
    if (input?.kind !== 'pages') throw new Error('There is no input.');
    const first = await read(input);
    expect(first.numbers).toEqual([1, 'ä 1', 2, 'ä 2']);
    expect((await read(input, first.cursor)).numbers).toEqual([]);
  } finally {
    await server.kill();
  }
});
