import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validateConfig } from '@connector-frame/catalog/validate';
import { expect, onTestFinished, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { attempt, hurriedClock, noted } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch } from '@connector-frame/engine/connector-api';
import { createFileConnectorOutput } from './output.js';

const type = typeOf('output:file');
async function place(): Promise<{ above: string; folder: string }> {
  const above = await mkdtemp(join(tmpdir(), 'files-'));
  onTestFinished(() => rm(above, { recursive: true, force: true }));
  return { above, folder: join(above, 'organization', 'connector') };
}
function outputIn(filesFolder: string | undefined, settings: Record<string, unknown> = {}) {
  const config = { settings: { file_name: 'events.ndjson', ...settings }, secrets: {} };
  const context = { type, egress: createEgress({ allow: [] }), clock: hurriedClock() };
  return createFileConnectorOutput(config, { ...context, ...(filesFolder !== undefined && { filesFolder }) });
}
const linesOf = async (path: string): Promise<string[]> => (await readFile(path, 'utf8')).split('\n').slice(0, -1);

test('writes records as lines', async () => {
  const { folder } = await place();
  const output = outputIn(folder);
  expect(await attempt(output, noted(3))).toEqual({ written: [0, 1, 2], rejected: [] });
  await output.close?.();
  expect(await attempt(output, noted(2, 3))).toEqual({ written: [3, 4], rejected: [] });
  expect(await linesOf(join(folder, 'events.ndjson'))).toEqual(noted(5).lines);
});

test('rotates a full file and deletes the oldest', async () => {
  const { folder } = await place();
  const output = outputIn(folder, { max_file_size: 1, keep_files: 2 });
  for (let n = 0; n < 12; n += 1)
    await attempt(output, createBatch(`b${n}`, [JSON.stringify({ n, text: 'x'.repeat(400_000) })]));
  expect(await readdir(folder)).toEqual(['events.000004.ndjson', 'events.000005.ndjson', 'events.ndjson']);
});

test('two pipelines that share a file lose no lines', async () => {
  const { folder } = await place();
  const outputs = [outputIn(folder), outputIn(folder)];
  const sent: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      outputs.map((output, at) => {
        const batch = noted(50, (round * 2 + at) * 50);
        sent.push(...batch.lines);
        return attempt(output, batch);
      }),
    );
    // Pause one of them; it reopens with the next batch.
    if (round === 10) await outputs[0]?.close?.();
  }
  expect(new Set(await linesOf(join(folder, 'events.ndjson')))).toEqual(new Set(sent));
});

test('writes nothing if no folder is configured, and says how to configure it', () => {
  expect(() => outputIn(undefined)).toThrow(
    expect.objectContaining({
      code: 'not_enabled',
      kind: 'permanent',
      message: expect.stringContaining('FILE_OUTPUT_DIR'),
    }),
  );
});

test.each([
  '../events.ndjson',
  '..',
  '.',
  '',
  '/etc/passwd',
  '/etc/cron.d/x.log',
  'a/b.log',
  'a\\b.log',
  '..\\..\\x.log',
  '.hidden.log',
  'events',
  'events.sh',
  'events.000001.ndjson',
  'events.ndjson\n',
  'events.ndjson\0.sh',
  'C:events.log',
  '%2e%2e%2fevents.log',
  '．．／events.log',
  'x'.repeat(101) + '.log',
])('rejects the file name "%s" in the form and at run time', async (file_name) => {
  const { above, folder } = await place();
  expect(validateConfig(type.config, { settings: { file_name }, secrets: {} })).not.toEqual([]);
  const trimmed = file_name.trim();
  if (trimmed === 'events.ndjson') await attempt(outputIn(folder, { file_name }), noted(1));
  else expect(() => outputIn(folder, { file_name })).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  expect(await readdir(above)).toEqual(trimmed === 'events.ndjson' ? ['organization'] : []);
});

test('does not follow a symbolic link', async () => {
  const { above, folder } = await place();
  const outside = join(above, 'outside.txt');
  await writeFile(outside, 'theirs\n');
  await mkdir(folder, { recursive: true });
  await symlink(outside, join(folder, 'events.ndjson'));
  expect((await attempt(outputIn(folder), noted(1))).failure).toMatchObject({ code: 'file', kind: 'permanent' });
  expect(await readFile(outside, 'utf8')).toBe('theirs\n');
});

test('retries after a disk error without exposing the path', async () => {
  const { above } = await place();
  await writeFile(join(above, 'organization'), 'a file where the folder should be');
  const { failure, error } = await attempt(outputIn(join(above, 'organization', 'connector')), noted(1));
  expect(failure).toMatchObject({ code: 'file', kind: 'retry', message: expect.stringContaining('ENOTDIR') });
  expect(JSON.stringify(failure) + String(error)).not.toContain(above);
});
