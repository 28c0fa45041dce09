import { afterEach, expect, test } from 'vitest';
import { attempt, hurriedClock, noted, numbersIn, outputContext } from '../../../../test/support/output-attempt.js';
import { codeOf } from '../../../../test/support/guides.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch } from '@connector-frame/engine/connector-api';
import { createSlackOutput } from './output.js';

const TOKEN = 'xoxb-canary-slack-token';
const PATH = '/services/T0CANARY/B0CANARY/canarywebhook';
const webhook = (origin: string, changes: Record<string, unknown> = {}) => ({
  settings: { auth_config: { type: 'webhook' }, ...changes },
  secrets: { webhook_url: `${origin}${PATH}` },
});
const bot = (changes: Record<string, unknown> = {}) => ({
  settings: { auth_config: { type: 'bot_token', bot_token: { channel_id: 'C0123456789' } }, ...changes },
  secrets: { bot_token: TOKEN },
});
const hook = ({ method, url }: Received): Reply =>
  method === 'POST' && url === PATH ? { body: 'ok' } : { status: 404, body: 'no_service' };
const api = ({ url, headers }: Received): Reply => {
  if (headers.authorization !== `Bearer ${TOKEN}`) return { body: { ok: false, error: 'invalid_auth' } };
  return url === '/api/chat.postMessage' || url === '/api/auth.test'
    ? { body: { ok: true } }
    : { body: { ok: false, error: 'unknown_method' } };
};

runOutputContract('slack with a webhook', {
  type: 'output:slack',
  at: (origin) => ({ create: createSlackOutput({ hooks: [origin] }), config: webhook(origin) }),
  accept: hook,
});
runOutputContract('slack with a bot token', {
  type: 'output:slack',
  at: (origin) => ({ create: createSlackOutput({ api: origin }), config: bot() }),
  accept: api,
});

let server: Vendor | undefined;
afterEach(() => server?.close());
const clock = hurriedClock();

async function outputFor(changes: Record<string, unknown> = {}, respond: (request: Received) => Reply = hook) {
  const { origin } = (server = await startVendor(respond));
  const context = { ...outputContext('output:slack'), clock };
  return respond === hook || 'webhook' in changes
    ? createSlackOutput({ hooks: [origin] })(webhook(origin, changes), context)
    : createSlackOutput({ api: origin })(bot(changes), context);
}
interface Message {
  text: string;
}
const messages = (): Message[] =>
  (server?.requests ?? []).filter(({ body }) => body !== '').map(({ body }): Message => JSON.parse(body));
const texts = (): string[] => messages().map(({ text }) => text);
const batchOf = (...records: object[]) =>
  createBatch(
    'b',
    records.map((record) => JSON.stringify(record)),
  );

test('without a template, posts each record as one message', async () => {
  await attempt(await outputFor(), batchOf({ n: 0 }, { n: 1 }));
  expect(texts()).toEqual(['```{"n":0}```', '```{"n":1}```']);
});

test('a bot posts to its channel, without unfurling', async () => {
  await attempt(await outputFor({}, api), batchOf({ n: 0 }));
  expect(messages()).toEqual([
    {
      channel: 'C0123456789',
      text: '```{"n":0}```',
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    },
  ]);
});

test('fills in a template by paths, and omits missing values', async () => {
  const message_template = '*{{ actor.name }}* did {{what}} {{ tags.1 }} {{ no.such }}{{ }}({{ actor }}) {{n}} { {x} }';
  const record = { n: 7, actor: { name: 'Zoë' }, what: 'sign-in', tags: ['a', 'b'] };
  await attempt(await outputFor({ message_template }), batchOf(record));
  expect(texts()).toEqual(['*Zoë* did sign-in b ({"name":"Zoë"}) 7 { {x} }']);
});

test('posts alerts with the template of the guide', async () => {
  const message_template = await codeOf('alerts', 'slack.txt');
  const alert = { event: 'fired', name: 'Errors', severity: 'high', description: 'Pipeline "Okta": 3 errors.' };
  await attempt(await outputFor({ message_template }), batchOf(alert));
  expect(texts()).toEqual(['*fired: Errors* (high)\nPipeline "Okta": 3 errors.']);
});

const attacks = [
  '<!channel>',
  '<!here|here>',
  '<!everyone>',
  '<@U0123456789>',
  '<!subteam^S012|team>',
  '@channel',
  '@here',
  '@EVERYONE',
  '<https://evil.example|Sign in>',
  '&lt;!channel&gt;',
  '```<!channel>',
  '{{ other }}<!channel>',
];
test.each(attacks)('escapes "%s" in a record, so that it notifies and links nobody', async (attack) => {
  for (const changes of [{}, { message_template: '{{ title }}' }, { message_template: '{{ title }}', digest: true }]) {
    await attempt(await outputFor(changes), batchOf({ title: attack, other: '<!channel>' }));
    const [text = ''] = texts();
    expect(text).not.toMatch(/[<>]/);
    expect(text).not.toMatch(/@(?:channel|here|everyone)/i);
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
    expect(text.replace(/^```|```$/g, '')).not.toContain('```');
    await server?.close();
  }
});

test("does not escape the template's own text", async () => {
  await attempt(await outputFor({ message_template: '<!channel> {{ title }}' }), batchOf({ title: '<!channel>' }));
  expect(texts()).toEqual(['<!channel> &lt;!channel&gt;']);
});

test('marks a truncated record, and never cuts inside an escape sequence', async () => {
  for (const shift of [0, 1, 2, 3, 4, 5]) {
    const long = 'x'.repeat(shift) + '<😀'.repeat(3_000);
    await attempt(await outputFor({ message_template: '{{ long }}' }), batchOf({ long }));
    const [text = ''] = texts();
    expect(text.length).toBeLessThanOrEqual(4_000);
    expect(text).toMatch(/(?:&lt;|😀|x) … \(cut\)$/u);
    expect(text).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    await server?.close();
  }
});

test('combines records in a digest up to the length of a message', async () => {
  await attempt(await outputFor({ digest: true, message_template: 'No. {{ n }}' }), noted(120));
  expect(texts().map((text) => text.split('\n').length)).toEqual([50, 50, 20]);
  await server?.close();
  const large = Array.from({ length: 4 }, (_, n) => ({ n, text: 'x'.repeat(1_900) }));
  await attempt(await outputFor({ digest: true }), batchOf(...large));
  expect(texts()).toHaveLength(2);
  for (const text of texts()) expect(text.length).toBeLessThanOrEqual(4_000);
});

test("asks for a first retry delay of up to one second, Slack's interval between messages", async () => {
  expect((await outputFor()).retry).toEqual({ firstMs: 1_000 });
});

test('posts one message per second', async () => {
  const before = clock.slept;
  await attempt(await outputFor(), noted(10));
  expect(clock.slept - before).toBe(9_000);
});

test('rejects a record with an empty message, alone or in a digest', async () => {
  for (const digest of [false, true]) {
    const output = await outputFor({ message_template: '{{ title }}', digest });
    const { written, rejected } = await attempt(output, batchOf({ n: 0, title: 'a' }, { n: 1 }, { n: 2, title: ' ' }));
    expect([written, rejected.map(({ n }) => n)]).toEqual([[0], [1, 2]]);
    expect(texts()).toEqual(['a']);
    await server?.close();
  }
});

test('resumes an interrupted batch without duplicates', async () => {
  let left = 3;
  const output = await outputFor({ webhook: true }, (request) => (left-- > 0 ? hook(request) : { fault: 'drop' }));
  expect(await attempt(output, noted(5))).toMatchObject({ written: [0, 1, 2], failure: { kind: 'retry' } });
  left = 10;
  expect(await attempt(output, noted(5))).toMatchObject({ written: [0, 1, 2, 3, 4] });
  // The request without a response was retried by the egress and by the runner; posted messages
  // were not.
  expect(server?.requests.flatMap(numbersIn)).toEqual([0, 1, 2, 3, 3, 3, 4]);
});

test.each([
  ['no_text', 400, 'rejected'],
  ['invalid_payload', 400, 'rejected'],
  ['no_service', 404, 'permanent'],
  ['channel_is_archived', 410, 'permanent'],
  ['action_prohibited', 403, 'permanent'],
  ['rollup_error', 500, 'retry'],
  ['words', 200, 'permanent'],
])('a webhook that responds %s with %i: %s', async (body, status, expected) => {
  const { failure, rejected } = await attempt(await outputFor({ webhook: true }, () => ({ status, body })), noted(1));
  expect(rejected.length > 0 ? 'rejected' : failure?.kind).toBe(expected);
});

test.each([
  ['msg_too_long', 'rejected'],
  ['invalid_auth', 'permanent'],
  ['not_in_channel', 'permanent'],
  ['missing_scope', 'permanent'],
  ['ratelimited', 'throttled'],
  ['internal_error', 'retry'],
  ['something_new', 'permanent'],
])('the API response %s: %s', async (error, expected) => {
  const output = await outputFor({}, (request) =>
    request.url === '/api/auth.test' ? api(request) : { body: { ok: false, error } },
  );
  const { failure, rejected } = await attempt(output, noted(1));
  expect(rejected.length > 0 ? 'rejected' : failure?.kind).toBe(expected);
});

test.each(['https://evil.example/services/x', 'http://hooks.slack.com/services/x', 'nonsense', ''])(
  'posts nothing to "%s"',
  (webhook_url) => {
    const context = outputContext('output:slack', createEgress({ allow: [] }));
    const config = { settings: { auth_config: { type: 'webhook' } }, secrets: { webhook_url } };
    expect(() => createSlackOutput()(config, context)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  },
);
