import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createServer, type RunningServer } from '@connector-frame/service';
import { toNodeHandler } from '@connector-frame/host/node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { codeOf } from '../support/guides.js';
import { serve } from '../support/serve.js';

/** The backend code of docs/guides/pipelines.md, verbatim, on a real service. */
let folder: string;
let service: RunningServer;
let apiKey: string;
let org: string;
let guide: {
  ensurePipeline(org: string, inputId: string, name: string): Promise<string>;
  setEnabled(org: string, inputId: string, enabled: boolean): Promise<void>;
  disconnect(org: string, inputId: string): Promise<void>;
  followLog(org: string, inputId: string, from: Request): Promise<Response>;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pipelines-guide-'));
  service = await createServer({ SERVICE_PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' });
  const made = await service.bootstrap({ organization: 'Northwind', teams: ['Acme'] });
  apiKey = made.apiKey;
  org = made.teams['Acme'] ?? '';
  vi.stubEnv('SERVICE_URL', service.url);
  vi.stubEnv('SERVICE_API_KEY', apiKey);
  for (const file of ['lifecycle.ts', 'log.ts']) await writeFile(join(folder, file), await codeOf('pipelines', file));
  await build({
    stdin: {
      contents: `export * from '${folder}/lifecycle.ts'; export * from '${folder}/log.ts';`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    nodePaths: [join(import.meta.dirname, '../../node_modules')],
    outfile: join(folder, 'guide.mjs'),
  });
  guide = (await import(join(folder, 'guide.mjs'))) as typeof guide;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${service.url}${path.replace('~', org)}`, {
    method,
    headers: { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

async function addInput(): Promise<string> {
  const { body } = await call('POST', '/v2/~/inputs', {
    name: 'Web hook',
    type: 'monad-http',
    config: { settings: {}, secrets: {} },
  });
  return String(body['id']);
}

test('starts once, pauses, resumes and deletes the pipeline, keeping the output', async () => {
  const inputId = await addInput();
  const pipelineId = await guide.ensurePipeline(org, inputId, 'Web hook');
  expect(await guide.ensurePipeline(org, inputId, 'Web hook')).toBe(pipelineId);
  const state = async () => (await call('GET', `/v2/~/pipelines/${pipelineId}/status`)).body['status'];
  expect(await state()).toBe('Running');
  await guide.setEnabled(org, inputId, false);
  // It is `Running` until its work has ended.
  await expect.poll(state).toBe('Disabled');
  await guide.setEnabled(org, inputId, true);
  await vi.waitFor(async () => expect(await state()).toBe('Running'), 10_000);
  await guide.disconnect(org, inputId);
  await guide.disconnect(org, inputId);
  expect((await call('GET', `/v1/~/inputs/${inputId}`)).status).toBe(404);
  expect((await call('GET', '/v1/~/outputs')).body['outputs']).toHaveLength(1);
});

test('streams the log as it is written and stops when the reader leaves', async () => {
  const inputId = await addInput();
  expect((await guide.followLog(org, inputId, new Request('http://localhost/'))).status).toBe(404);
  await guide.ensurePipeline(org, inputId, 'Web hook');
  const backend = toNodeHandler((request: Request) => guide.followLog(org, inputId, request));
  const site = await serve((message, response) => backend(message, response));
  const leaving = new AbortController();
  const response = await fetch(site.origin, { signal: leaving.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.fail('no body');
  let text = '';
  const until = async (pattern: RegExp) => {
    while (!pattern.test(text)) text += (await reader.read()).value ?? expect.fail('it ended');
  };
  await until(/^event: entry$/m);
  const before = text.length;
  await guide.setEnabled(org, inputId, false);
  await until(new RegExp(`^[^]{${before}}[^]*^event: entry$`, 'm'));
  leaving.abort();
  await site.close();
});
