import { expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const FILE = 'types/outputs/acme-logs.json';
const goodDelivery = {
  verified: 'documented',
  documentation: ['https://acme.example/docs#ingest'],
  base_url: '{{/settings/url}}',
  authentication: { kind: 'bearer', secret: '/secrets/token' },
  path: '/in/{{/settings/mode}}',
  headers: { 'x-batch': '{{batch}}' },
  body: { kind: 'json', template: { events: '{{records}}' }, record: { at: '{{now:seconds}}', event: '{{record}}' } },
  limits: { records: 100, bytes: 100_000 },
  compression: 'gzip',
  responses: {
    accepted: { path: '/ok', in: [true] },
    rules: [{ status: 400, path: '/code', in: [7], means: 'not_found', message: 'There is no such stream.' }],
    partial: { path: '/errors', index: '/at' },
  },
  check: { kind: 'request', path: '/me', summary: 'Acme accepted the token' },
  variants: { field: '/settings/mode', of: { fast: { path: '/fast' } } },
};
const good = { ...goodType, kind: 'output', category: 'Search & Analytics', delivery: goodDelivery };
const problemsOf = (value: unknown): string[] => compile(sourcesOf(value, FILE)).problems.map(describeProblem);

test('accepts a valid definition and keeps it in the type', () => {
  expect(problemsOf(good)).toEqual([]);
  expect(compile(sourcesOf(good, FILE)).types[0]?.delivery).toEqual(goodDelivery);
});

const spoiled: [pointer: string, value: unknown, at: string, message: string][] = [
  ['/kind', 'input', '/delivery', 'belongs to outputs'],
  ['/delivery/extra', 1, '/delivery/extra', 'is not known here'],
  ['/delivery/documentation', [], '/delivery/documentation', 'must be a list'],
  ['/delivery/base_url', 'http://acme.example', '/delivery/base_url', 'must be an address with https://'],
  [
    '/delivery/base_url',
    'https://{{/settings/mode}}.acme.example',
    '/delivery/base_url',
    'mark that field "x-destination"',
  ],
  ['/delivery/base_url', 'https://{{/secrets/token}}.acme.example', '/delivery/base_url', 'holds the secret'],
  ['/delivery/base_url', '{{/secrets/token}}', '/delivery/base_url', 'mark that field "x-destination"'],
  [
    '/delivery/base_url',
    { field: '/settings/mode', of: { fast: 'https://a.example' } },
    '/delivery/base_url',
    'mark that field "x-destination"',
  ],
  ['/delivery/path', 'in', '/delivery/path', 'must be a path that begins with "/"'],
  ['/delivery/path', '/{{/settings/none}}', '/delivery/path', 'names /settings/none, which is no field'],
  ['/delivery/path', '/{{record/stream}}', '/delivery/path', "can't say {{record/stream}}"],
  [
    '/delivery/headers/x-batch',
    '{{/secrets/token}}',
    '/delivery/headers/x-batch',
    'in "authentication" and "base_url" only',
  ],
  [
    '/delivery/authentication',
    { kind: 'login', requests: [{ url: '/login/{{/secrets/token}}' }], send: {} },
    '/delivery/authentication/requests/0/url',
    'holds the secret',
  ],
  [
    '/delivery/authentication',
    { kind: 'fields', headers: { 'x-key': 'Key {{token}}' } },
    '/delivery/authentication/headers/x-key',
    "can't say {{token}}",
  ],
  ['/delivery/headers/x-batch', '{{now:week}}', '/delivery/headers/x-batch', 'the format of a time'],
  ['/delivery/body/template', { events: [] }, '/delivery/body/template', 'must contain "{{records}}"'],
  ['/delivery/body/template', { events: 'all {{records}}' }, '/delivery/body/template', 'once, as a whole string'],
  ['/delivery/body/record', '{{records}}', '/delivery/body/record', "can't say {{records}}"],
  ['/delivery/body/record', { '{{first}}': 'x' }, '/delivery/body/record', 'must be {"{{first}}": [...]}'],
  ['/delivery/body', { kind: 'form', fields: {} }, '/delivery/limits/records', 'must be 1'],
  ['/delivery/check/path', '/{{batch}}', '/delivery/check/path', "can't say {{batch}}"],
  ['/delivery/responses/rules/0/means', 'fine', '/delivery/responses/rules/0/means', 'must be "accepted"'],
  ['/delivery/variants/of/fast/path', '/{{record}}', '/delivery/variants/of/fast/path', "can't say {{record}}"],
];

test.each(spoiled)('reports %s = %j at %s', (pointer, value, at, message) => {
  expect(problemsOf(setAt(good, pointer, value))).toContainEqual(expect.stringContaining(`${FILE}#${at}: `));
  expect(problemsOf(setAt(good, pointer, value)).join('\n')).toContain(message);
});
