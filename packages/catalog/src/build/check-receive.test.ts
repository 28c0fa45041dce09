import { expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const goodReceive = {
  verified: 'documented',
  documentation: ['https://acme.example/docs#webhooks'],
  authentication: [
    {
      kind: 'hmac',
      header: 'X-Acme-Signature',
      prefix: 'v1=',
      secret: '/secrets/token',
      algorithm: 'sha256',
      encoding: 'hex',
      signed: '{{timestamp}}.{{body}}',
      timestamp: { header: 'X-Acme-Time', tolerance_seconds: 300 },
    },
    { kind: 'token' },
  ],
  challenge: { method: 'GET', header: 'X-Acme-Challenge', json: { echo: '{{value}}' } },
  records: { format: 'json', path: '/events', fields: { tenant: '{{header.X-Acme-Tenant}}' } },
  id: 'X-Acme-Delivery',
  max_bytes: 1_048_576,
  response: { status: 202, json: { at: '{{now:seconds}}' } },
  rejected: { json: { reason: '{{message}}' } },
  unsupported: [{ field: '/settings/mode', in: ['fast'], message: 'Choose safe.' }],
};
const good = { ...goodType, receive: goodReceive };
const problemsOf = (value: unknown): string[] => compile(sourcesOf(value, FILE)).problems.map(describeProblem);

test('accepts a valid definition and keeps it in the type', () => {
  expect(problemsOf(good)).toEqual([]);
  expect(compile(sourcesOf(good, FILE)).types[0]?.receive).toEqual(goodReceive);
});

const signed = '/receive/authentication/0/signed';
const spoiled: [pointer: string, value: unknown, at: string, message: string][] = [
  ['/receive/extra', 1, '/receive/extra', 'is not known here'],
  ['/receive/max_bytes', 100_000_000, '/receive/max_bytes', 'must be a whole number'],
  ['/receive/authentication/0/secret', '/secrets/none', '/receive/authentication/0/secret', 'which is no field'],
  ['/receive/authentication/0/algorithm', 'md5', '/receive/authentication/0/algorithm', 'must be "sha256"'],
  [signed, '{{timestamp}}', signed, 'must contain "{{body}}"'],
  [signed, '{{body}}', signed, 'a time that is not signed proves nothing'],
  [signed, '{{/secrets/token}}{{timestamp}}{{body}}', '/receive/authentication/0', "can't say {{/secrets/token}}"],
  ['/receive/authentication', [{ kind: 'token' }, { kind: 'token' }], '/receive/authentication/0', 'must be the last'],
  ['/receive/records/fields/tenant', '{{/secrets/token}}', '/receive/records/fields/tenant', 'names a secret'],
  ['/receive/records/fields/tenant', '{{body}}', '/receive/records/fields/tenant', "can't say {{body}}"],
  ['/receive/records/only', { path: '/type', in: '/settings/mode' }, '/receive/records', 'which is no list'],
  ['/receive/response/json/at', '{{now:week}}', '/receive/response/json/at', "can't say {{now:week}}"],
  ['/receive/challenge/json/echo', '{{message}}', '/receive/challenge/json/echo', "can't say {{message}}"],
  ['/receive/unsupported/0/message', 'no', '/receive/unsupported/0/message', 'a sentence'],
  ['/unavailable', { reason: 'agent' }, '/unavailable', 'has "poll", "receive" or'],
];

test.each(spoiled)('reports %s = %j at %s', (pointer, value, at, message) => {
  expect(problemsOf(setAt(good, pointer, value))).toContainEqual(expect.stringContaining(`${FILE}#${at}`));
  expect(problemsOf(setAt(good, pointer, value)).join('\n')).toContain(message);
});
