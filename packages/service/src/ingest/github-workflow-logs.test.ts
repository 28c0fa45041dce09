/** GitHub's `workflow_run` events, and its logs as the REST API documents them. */
import { createHmac } from 'node:crypto';
import type { Egress } from '@connector-frame/engine/egress';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startIngestListener, type IngestListener } from '../../../../test/support/ingest-listener.js';

const requests: { url: string; authorization: string | null }[] = [];
let responses: Record<string, () => Response> = {};
const egress: Egress = {
  async fetch(url, init) {
    requests.push({ url: String(url), authorization: new Headers(init?.headers).get('authorization') });
    return responses[new URL(String(url)).hostname]?.() ?? new Response(null, { status: 404 });
  },
  connect: () => Promise.reject(new Error('not used')),
};

let listener: IngestListener;
beforeAll(async () => {
  listener = await startIngestListener(undefined, egress);
});
afterAll(() => listener.close());
beforeEach(() => {
  listener.reset();
  requests.length = 0;
  const location = 'https://pipelines.actions.githubusercontent.com/x/logs.zip?sig=1';
  responses = {
    'api.github.com': () => new Response(null, { status: 302, headers: { location } }),
    'pipelines.actions.githubusercontent.com': () => new Response(Buffer.from(archive)),
  };
});

const archive = zipSync({
  '0_build.txt': strToU8('\uFEFF2023-01-16T14:36:23.0000000Z ##[group]Run\r\n2023-01-16T14:36:24.5Z npm ci\nno time\n'),
  'build/1_Set up job.txt': strToU8('2023-01-16T14:36:23.0000000Z ##[group]Run\n'),
});
const secret = "It's a Secret to Everybody";
const token = `ghp_${'x'.repeat(36)}`;
const settings = {
  scope: { type: 'repository', repository: { owner: 'octo-org', repo: 'octo-repo' } },
  auth_config: { type: 'personal_access_token' },
};
const event = (more: object = {}, action = 'completed') =>
  JSON.stringify({
    action,
    workflow_run: {
      id: 30433642,
      run_attempt: 1,
      name: 'Build',
      conclusion: 'success',
      head_branch: 'main',
      head_sha: 'acb5820',
      actor: { login: 'octocat' },
    },
    repository: { full_name: 'octo-org/octo-repo' },
    ...more,
  });
const create = () =>
  listener.newReceiver('github-actions-workflow-logs-webhook', settings, {
    webhook_secret: { value: secret },
    token: { value: token },
  });
const sign = (body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const send = (path: string, body: string, headers: Record<string, string> = {}) =>
  listener.post(path, body, {
    headers: { 'x-github-event': 'workflow_run', 'x-hub-signature-256': sign(body), ...headers },
  });
const records = () => listener.engine.appended.flatMap(({ lines }) => lines.map((line): unknown => JSON.parse(line)));

it('fetches the logs of a completed run, with the token only where it belongs', async () => {
  const { path } = await create();
  const sent = await send(path, event());
  expect([sent.status, sent.json]).toEqual([200, { message: 'Stored 3 lines.' }]);
  expect(requests).toEqual([
    {
      url: 'https://api.github.com/repos/octo-org/octo-repo/actions/runs/30433642/attempts/1/logs',
      authorization: `Bearer ${token}`,
    },
    { url: 'https://pipelines.actions.githubusercontent.com/x/logs.zip?sig=1', authorization: null },
  ]);
  const run = {
    repository: 'octo-org/octo-repo',
    run_id: 30433642,
    run_attempt: 1,
    workflow: 'Build',
    actor: 'octocat',
  };
  expect(records()).toMatchObject([
    { ...run, job: 'build', line: 1, timestamp: '2023-01-16T14:36:23.0000000Z', message: '##[group]Run' },
    { ...run, line: 2, timestamp: '2023-01-16T14:36:24.5Z', message: 'npm ci' },
    { ...run, line: 3, message: 'no time' },
  ]);
  expect((await send(path, event())).json).toEqual({ message: 'These logs were stored before.' });
  expect(listener.engine.appended).toHaveLength(1);
});

it('fetches nothing for other events, other repositories, or without a signature', async () => {
  const { path } = await create();
  const ping = await send(path, '{"zen":"Speak like a human."}', { 'x-github-event': 'ping' });
  expect(ping.status).toBe(200);
  expect((await send(path, event({}, 'requested'))).status).toBe(200);
  expect((await send(path, event({ repository: { full_name: 'octo-org/secret' } }))).status).toBe(200);
  expect((await send(path, event({ repository: { full_name: '../../user' } }))).status).toBe(400);
  for (const signature of ['', 'sha256=00', sign('other')])
    expect((await send(path, event(), { 'x-hub-signature-256': signature })).status).toBe(401);
  expect([requests, listener.engine.appended]).toEqual([[], []]);
});

it.each([
  ['a refused token', 'api.github.com', () => new Response(null, { status: 401 })],
  [
    'another host',
    'api.github.com',
    () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
  ],
  ['no archive', 'pipelines.actions.githubusercontent.com', () => new Response('PK\u0003\u0004')],
  ['an expired link', 'pipelines.actions.githubusercontent.com', () => new Response(null, { status: 403 })],
] as const)('shows GitHub a failed delivery after %s, which can be repeated', async (_name, host, response) => {
  const { path } = await create();
  const { [host]: working = () => new Response() } = responses;
  responses[host] = response;
  const failed = await send(path, event());
  expect(failed.status).toBe(503);
  expect(failed.body.toString() + listener.service.log.join('')).not.toContain(token);
  expect(requests.some(({ url }) => url.includes('evil'))).toBe(false);
  responses[host] = working;
  expect((await send(path, event())).status).toBe(200);
  expect(records()).toHaveLength(3);
});
