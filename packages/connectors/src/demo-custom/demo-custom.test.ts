import { expect, test } from 'vitest';
import { hurriedClock, outputContext } from '../../../../test/support/output-attempt.js';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { demoCustomInput } from './index.js';

async function records(template: string, rate = 10): Promise<DataRecord[]> {
  const context = { ...outputContext('output:dev-null'), clock: hurriedClock() };
  const config = { settings: { custom_template: template, rate }, secrets: {} };
  const input = demoCustomInput.createInput?.(config, context);
  if (input?.kind !== 'pages') throw new Error('no input');
  const found: DataRecord[] = [];
  for await (const page of input.pages(undefined, new AbortController().signal)) {
    found.push(...page.records);
    if (found.length >= 20) break;
  }
  return found;
}

test('fills in a template with new values for each record, and nothing else', async () => {
  const template =
    '{"user":"{{email}}","text":"{{ name }} <{{email}}>","port":{{int:1:65535}},"ids":["{{uuid}}","{{uuid}}"],"ok":true,"braces":"{person.email} {"}';
  const found = await records(template);
  expect(Object.keys(found[0] ?? {})).toEqual(['user', 'text', 'port', 'ids', 'ok', 'braces']);
  for (const { user, text, port, ids, braces } of found) {
    expect(text).toContain(`<${typeof user === 'string' ? user : 'no user'}>`);
    expect(Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535).toBe(true);
    expect(new Set(Array.isArray(ids) ? ids : []).size).toBe(2);
    expect(braces).toBe('{person.email} {');
  }
  expect(new Set(found.map(({ ids }) => JSON.stringify(ids))).size).toBe(found.length);
});

test.each([
  ['no JSON', '{"a":', 'not valid JSON'],
  ['no object', '["{{email}}"]', 'one JSON object'],
  ['an unknown placeholder', '{"a":"{{emial}}"}', 'not known'],
  ['a text that is too long', '{"a":"{{hex:999999999}}"}', '1 to 1000 characters'],
  ['a range that is none', '{"a":"{{int:5:1}}"}', 'smaller'],
])('%s is an error', async (_what, template, message) => {
  await expect(records(template)).rejects.toThrow(message);
});
