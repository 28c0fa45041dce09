import type { ReceiveAuthentication } from '@connector-frame/catalog/types';
import type { ReceiverContext, RequestHead } from '@connector-frame/engine/connector-api';
import { expect, test } from 'vitest';
import { createSenderCheck } from './authentication.js';

const clock = { time: 1_531_420_618_000, now: () => clock.time };
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what the checks use
const context = { clock, isToken: () => false } as unknown as ReceiverContext;
const head = (headers: Record<string, string>): RequestHead => ({
  method: 'POST',
  path: '',
  query: new URLSearchParams(),
  headers,
});
const hmac = (more: Partial<Extract<ReceiveAuthentication, { kind: 'hmac' }>>): ReceiveAuthentication => ({
  kind: 'hmac',
  header: 'X-Signature',
  secret: '/secrets/secret',
  algorithm: 'sha256',
  encoding: 'hex',
  ...more,
});

async function passes(method: ReceiveAuthentication, secret: string, headers: Record<string, string>, body: string) {
  const check = createSenderCheck(method, { settings: {}, secrets: { secret } }, context);
  try {
    check.begin(head(headers));
    await check.verify(Buffer.from(body), head(headers));
    return true;
  } catch {
    return false;
  }
}

// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
const github = hmac({ header: 'X-Hub-Signature-256', prefix: 'sha256=' });
const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
const secret = "It's a Secret to Everybody";

test("verifies GitHub's published signature, and nothing next to it", async () => {
  const sent = { 'x-hub-signature-256': signature };
  expect(await passes(github, secret, sent, 'Hello, World!')).toBe(true);
  expect(await passes(github, secret, sent, 'Hello, World')).toBe(false);
  expect(await passes(github, `${secret}.`, sent, 'Hello, World!')).toBe(false);
  expect(await passes(github, '', sent, 'Hello, World!')).toBe(false);
  for (const wrong of ['', 'sha256=', signature.slice(7), signature.toUpperCase(), `${signature}0`])
    expect(await passes(github, secret, { 'x-hub-signature-256': wrong }, 'Hello, World!')).toBe(false);
});

// https://api.slack.com/authentication/verifying-requests-from-slack
const slack = hmac({
  header: 'X-Slack-Signature',
  prefix: 'v0=',
  signed: 'v0:{{timestamp}}:{{body}}',
  timestamp: { header: 'X-Slack-Request-Timestamp', tolerance_seconds: 300 },
});

test("verifies Slack's published signature over time and body, within the tolerance of our clock", async () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const sent = {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  };
  const key = '8f742231b10e8888abcd99yyyzzz85a5';
  expect(await passes(slack, key, sent, body)).toBe(true);
  expect(await passes(slack, key, { ...sent, 'x-slack-request-timestamp': '1531420619' }, body)).toBe(false);
  for (const wrong of ['', 'x', 'Infinity'])
    expect(await passes(slack, key, { ...sent, 'x-slack-request-timestamp': wrong }, body)).toBe(false);
  for (const [offset, accepted] of [
    [299_000, true],
    [301_000, false],
    [-299_000, true],
    [-301_000, false],
  ] as const) {
    clock.time = 1_531_420_618_000 + offset;
    expect(await passes(slack, key, sent, body)).toBe(accepted);
  }
});
