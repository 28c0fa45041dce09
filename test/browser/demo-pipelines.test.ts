import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { allPages, startDemoFixture, type DemoFixture, type DemoPage } from '../support/demo.js';
import { exampleBody, typeOf } from '../support/connectors.js';
import { long, longOr } from '../support/long.js';
import { rowOf, send, sendOverPause } from '../support/pipeline-row.js';
import { startPostgres } from '../support/postgres.js';
import { serve } from '../support/serve.js';

/** The pipeline behind a connection, on the demo's pages, with the real service and engine. */
let fixture: DemoFixture;
let receiver: Awaited<ReturnType<typeof serve>>;
let arrived: string[] = [];

beforeAll(async () => {
  fixture = await startDemoFixture({ EGRESS_ALLOW: '127.0.0.0/8,::1/128' });
  receiver = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      arrived.push(body);
      response.end();
    });
  }, '127.0.0.1');
});
afterAll(async () => {
  await fixture?.close();
  await receiver?.close();
});
afterEach(async () => {
  await fixture.clear();
  arrived = [];
});

/** Connects an HTTP input through the form and returns its row. */
async function connect(page: Page, kind: DemoPage, name: string) {
  await page.goto(`${fixture.demo.hostUrl}/${kind}/?kind=input&type=monad-http`);
  const form = page.frameLocator('iframe');
  await form.getByLabel('Name', { exact: true }).fill(name);
  if (kind === 'html') {
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('link', { name: 'See the list' }).click();
  } else {
    await form.getByRole('button', { name: 'Save' }).click();
  }
  return rowOf(page, name);
}

const list = async (what: 'inputs' | 'outputs' | 'pipelines') => {
  const { body } = await fixture.call('GET', `/${what === 'pipelines' ? 'v2' : 'v1'}/~/${what}?limit=1000`);
  return (body[what] as { name: string }[]).map(({ name }) => name);
};
const addOutput = async (name: string) => {
  const { body } = await fixture.call('POST', '/v2/~/outputs', {
    name,
    type: 'http',
    config: {
      settings: { endpoint: `${receiver.origin}/in`, method: 'POST', payload_structure: 'array' },
      secrets: {},
    },
  });
  expect(body['id']).toEqual(expect.any(String));
  return String(body['id']);
};

describe.each(longOr(allPages, ['html'] as const))('%s', (kind) => {
  test('a saved connection offers its pipeline at once and counts the records sent to the shown URL', async () => {
    const page = await fixture.open(kind);
    const row = await connect(page, kind, `Feed ${kind}`);
    await row.start();
    await send(await row.shown(), 1_000);
    await row.counted('1,000 in · 1,000 out · 0 records rejected');
    expect(await row.item.getByRole('img').getAttribute('aria-label')).toMatch(/^Records a second/);
    expect(fixture.problems).toEqual([]);
  });
});

test('a paused pipeline keeps 500 records until it resumes and then delivers all 1,500', async () => {
  const page = await fixture.open('script');
  const row = await connect(page, 'script', 'Patient');
  await row.start();
  const address = await row.shown();
  await send(address, 1_000);
  await row.counted('1,000 in · 1,000 out');
  await row.press('Pause');
  await row.is('Paused');
  await send(address, 500, 1_000);
  await row.counted('1,500 in · 1,000 out · 500 waiting');
  await row.is('Paused');
  await page.reload();
  await row.item.scrollIntoViewIfNeeded();
  await row.counted('1,500 in · 1,000 out · 500 waiting');
  await row.press('Resume');
  await row.counted('1,500 in · 1,500 out · 0 records rejected');
  await row.is('Running');
});

test('a pipeline on hold says why, and stays enabled', async () => {
  const page = await fixture.open('html');
  const row = await connect(page, 'html', 'Limited');
  await row.start();
  const { body: key } = await fixture.call('GET', '/v2/~/pipelines?limit=1');
  const [{ organization_id }] = key['pipelines'] as [{ organization_id: string }];
  const limit = { limit_type: 'egress_bytes', limit_amount: 0, timeframe: 'day', action: 'DISABLE' };
  const { body: quota } = await fixture.call('POST', '/v2/quotas', { organization_id, name: 'None', ...limit });
  await row.is('On hold');
  await row.item.getByText('The quota of 0 egress bytes a day is used up.').waitFor();
  await row.item.getByRole('button', { name: 'Pause' }).waitFor();
  await fixture.call('DELETE', `/v2/quotas/${String(quota['id'])}`);
  await row.is('Running');
});

test.runIf(long)('delivers to a destination selected by name', async () => {
  await addOutput('The archive');
  const page = await fixture.open('react');
  const row = await connect(page, 'react', 'Forwarded');
  await row.item.getByLabel('Send what comes to').selectOption({ label: 'The archive · http' });
  await row.start();
  await send(await row.shown(), 20);
  await row.counted('20 in · 20 out');
  const numbers = arrived.flatMap((body) => [...body.matchAll(/"number":(\d+)/g)].map(([, number]) => Number(number)));
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  await row.item.getByText('The archive · http').waitFor();
});

test.runIf(long)('delivers to a file in the data folder that npm start allows', async () => {
  const config = { settings: { file_name: 'events.ndjson' }, secrets: {} };
  const { status } = await fixture.call('POST', '/v2/~/outputs', { name: 'On disk', type: 'file', config });
  expect(status).toBe(200);
  const page = await fixture.open('html');
  const row = await connect(page, 'html', 'Written down');
  await row.item.getByLabel('Send what comes to').selectOption({ label: 'On disk · file' });
  await sendOverPause(row);
  const names = await readdir(join(fixture.folder, 'files'), { recursive: true });
  const file = names.find((name) => name.endsWith('events.ndjson')) ?? expect.fail('no file');
  const lines = (await readFile(join(fixture.folder, 'files', file), 'utf8')).trim().split('\n');
  const numbers = lines.map((line) => (JSON.parse(line) as { number: number }).number);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 1_500 }, (_, index) => index));
});

test.runIf(long)('delivers to a PostgreSQL table', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  const url = new URL(await server.createDatabase());
  const client = new Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('CREATE TABLE events (number int)');
  const { status } = await fixture.call('POST', '/v2/~/outputs', {
    name: 'The warehouse',
    type: 'postgresql',
    config: {
      settings: {
        host: url.hostname,
        port: Number(url.port),
        database: url.pathname.slice(1),
        user: 'postgres',
        table: 'events',
      },
      secrets: { password: { value: url.password } },
    },
  });
  expect(status).toBe(200);
  const page = await fixture.open('vue');
  const row = await connect(page, 'vue', 'Filed');
  await row.item.getByLabel('Send what comes to').selectOption({ label: 'The warehouse · postgresql' });
  await sendOverPause(row);
  const { rows } = await client.query<{ number: number }>('SELECT number FROM events ORDER BY number');
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 1_500 }, (_, index) => index));
});

test('delivers a test event and reports it', async () => {
  const page = await fixture.open('vue');
  const row = await connect(page, 'vue', 'Tried');
  await row.start();
  await row.press('Details');
  await row.press('Send a test event');
  await row.item.getByText('Received: 1 record so far.').waitFor();
  await row.counted('1 in · 1 out');
});

test('the copied command contains the token, which is hidden until revealed', async () => {
  const page = await fixture.open('html', { permissions: ['clipboard-read', 'clipboard-write'] });
  const row = await connect(page, 'html', 'Handed over');
  await row.start();
  await row.press('Details');
  await row.item.getByText('••••').first().waitFor();
  await row.press('Copy command');
  await row.item.getByText('Copied', { exact: true }).waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toMatch(/^curl http:\/\/localhost:\d+\/ingest\/[\w-]+ \\\n {2}-H 'authorization: Bearer [\w-]{20,}'/);
  expect(await row.item.locator('pre').textContent()).not.toContain(/Bearer ([\w-]+)/.exec(command)?.[1]);
  await promisify(execFile)('sh', ['-c', command]);
  await row.counted('1 in · 1 out');
});

test('streams log lines and stops when the log is closed', async () => {
  const page = await fixture.open('script');
  const row = await connect(page, 'script', 'Watched');
  await row.start();
  const streams: string[] = [];
  const ended: string[] = [];
  const isStream = (url: string) => url.includes('/demo/pipelines/log?');
  page.on('request', (request) => isStream(request.url()) && streams.push(request.url()));
  page.on('requestfailed', (request) => isStream(request.url()) && ended.push(request.url()));
  await row.press('Details');
  await row.item.getByText('live', { exact: true }).waitFor();
  const before = await row.log.locator('li').count();
  await row.press('Pause');
  await expect.poll(() => row.log.locator('li').count()).toBeGreaterThan(before);
  await row.press('Resume');
  await expect.poll(() => row.log.locator('li').count()).toBeGreaterThan(before + 1);
  expect([streams.length, ended.length]).toEqual([1, 0]);
  await row.press('Details');
  await expect.poll(() => ended.length).toBe(1);
});

test('shows why a pipeline fails', async () => {
  const okta = exampleBody(typeOf('input', 'okta-systemlog'));
  const settings = { ...okta.config.settings, org_url: 'https://127.0.0.1:1' };
  const config = { ...okta.config, settings };
  const { status } = await fixture.call('POST', '/v2/~/inputs', { ...okta, config, name: 'Unreachable' });
  expect(status).toBe(200);
  const page = await fixture.open('vue');
  const row = rowOf(page, 'Unreachable');
  await row.press('Start a pipeline');
  await row.is('Erroring');
  expect(await row.item.locator('.pipeline-problem').first().textContent()).toMatch(/\w+ \w+ \w+/);
});

describe('deleting', () => {
  const policies = [
    ['script', 'Only the pipeline', true, true],
    ['react', 'The connection, but keep the destination', false, true],
    ['vue', 'Everything', false, false],
    ['html', 'Everything', false, false],
  ] as const;

  // The short run tests two policies once; the service's own tests cover what each of them deletes.
  test.each(policies.slice(...longOr([0], [1, 2])))('on %s: %s', async (kind, label, keepsInput, keepsOutput) => {
    const [name, target] = [`Short-lived ${kind}`, `Target ${kind}`];
    await addOutput(target);
    const page = await fixture.open(kind);
    const row = await connect(page, kind, name);
    await row.item.getByLabel('Send what comes to').selectOption({ label: `${target} · http` });
    await row.start();

    await row.press('Delete');
    const dialog = page.getByRole('dialog', { name: `Delete the pipeline of “${name}”?` });
    await dialog.getByText(`“${target}”`).first().waitFor();
    await page.keyboard.press('Escape');
    await row.is('Running');
    await row.press('Delete');
    await dialog.getByLabel(label, { exact: false }).check();
    await dialog.getByRole('button', { name: 'Delete' }).click();

    if (keepsInput) {
      await row.item.getByRole('button', { name: 'Start a pipeline' }).waitFor();
    } else {
      await expect.poll(() => row.item.count()).toBe(0);
      await page.getByRole('status').filter({ hasText: 'is deleted.' }).first().waitFor();
    }
    expect(await list('pipelines')).not.toContain(name);
    expect((await list('inputs')).includes(name)).toBe(keepsInput);
    expect((await list('outputs')).includes(target)).toBe(keepsOutput);
    expect(fixture.problems).toEqual([]);
  });

  test('a connection without a pipeline', async () => {
    const page = await fixture.open('script');
    const row = await connect(page, 'script', 'Never used');
    await row.press('Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete “Never used”?' });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => row.item.count()).toBe(0);
    expect(await list('inputs')).not.toContain('Never used');
  });
});
