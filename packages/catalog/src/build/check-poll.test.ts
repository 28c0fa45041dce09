import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const goodPoll = {
  verified: 'documented',
  documentation: ['https://acme.example/docs#events'],
  base_url: '{{/settings/url}}',
  authentication: { kind: 'bearer', secret: '/secrets/token' },
  rate: {
    throttled: [
      { status: 403, header: 'retry-after' },
      { status: 403, path: '/error', in: ['slow'] },
    ],
  },
  streams: [
    {
      name: 'events',
      path: '/events/{{/settings/mode}}',
      query: { since: '{{since:seconds}}', until: '{{until}}', q: ['a:{{/settings/only}}', 'b'] },
      page_size: 100,
      records: { path: '/data', id: ['/id', '/n'], time: '/at', only: { path: '/kind', field: '/settings/tags' } },
      pagination: { kind: 'body_cursor', path: '/next', parameter: 'cursor' },
      cursor: { kind: 'time', overlap_seconds: 60, longest_seconds: 3_600 },
    },
  ],
  check: { path: '/events', query: { since: '{{since}}' }, records: { path: '/data' } },
};
const good = { ...goodType, poll: goodPoll };
const told = (value: unknown): string[] => compile(sourcesOf(value)).problems.map(describeProblem);

test('accepts a valid poll definition and keeps it in the type', () => {
  const { types, problems } = compile(sourcesOf(good));
  expect(problems).toEqual([]);
  expect(types[0]?.poll).toEqual(goodPoll);
});

const stream = '/poll/streams/0';
const spoiled: [pointer: string, value: unknown, at: string, message: string][] = [
  ['/poll/verified', 'yes', '/poll/verified', 'must be "documented", "independent" or "live"'],
  ['/poll/verified', undefined, '/poll', 'needs "verified"'],
  ['/poll/documentation', [], '/poll/documentation', 'must be a list, with something in it'],
  ['/poll/documentation/0', 'the docs', '/poll/documentation/0', 'must be the address of a page'],
  ['/poll/base_url', 'http://acme.example', '/poll/base_url', 'must be an address with https://'],
  ['/poll/base_url', 'https://acme.example/', '/poll/base_url', 'no slash at the end'],
  ['/poll/base_url', 'https://{{/settings/mode}}.acme.example', '/poll/base_url', 'mark that setting "x-destination"'],
  ['/poll/extra', 1, '/poll/extra', 'is not known here'],
  ['/poll/authentication/kind', 'magic', '/poll/authentication/kind', 'must be "none"'],
  [
    '/poll/authentication/secret',
    '/secrets/none',
    '/poll/authentication/secret',
    'names /secrets/none, which is no field',
  ],
  ['/poll/authentication/secret', '/settings/mode', '/poll/authentication/secret', 'must be the pointer of a secret'],
  ['/poll/unsupported', ['/settings/mode'], '/poll/unsupported/0', 'which is always filled'],
  ['/poll/unsupported', ['/settings/none'], '/poll/unsupported/0', 'which is no field'],
  ['/poll/interval_seconds', 1, '/poll/interval_seconds', 'must be a whole number from 10'],
  ['/poll/rate/throttled/0/status', '403', '/poll/rate/throttled/0/status', 'must be a whole number'],
  [`${stream}/path`, 'events', `${stream}/path`, 'must be a path that begins with "/"'],
  [`${stream}/path`, '/{{/secrets/token}}', `${stream}/path`, 'secrets stand in "authentication" alone'],
  [`${stream}/query/q`, '{{/settings/none}}', `${stream}/query/q`, 'names /settings/none, which is no field'],
  [`${stream}/query/q`, '{{cursor}}', `${stream}/query/q`, "can't say {{cursor}}"],
  [`${stream}/query/q`, '{{each}}', `${stream}/query/q`, "can't say {{each}}"],
  [`${stream}/query/q`, '{{since:week}}', `${stream}/query/q`, 'only a time has a form'],
  [`${stream}/query/since`, 'now', stream, 'must say {{since}}'],
  [`${stream}/query/until`, 'now', stream, 'must say {{until}}'],
  [`${stream}/records/time`, undefined, `${stream}/records`, 'needs "time"'],
  [`${stream}/records/path`, 'data', `${stream}/records/path`, 'must be a pointer into the response'],
  [`${stream}/cursor/longest_seconds`, 100, `${stream}/cursor/longest_seconds`, 'at least twice the overlap'],
  [
    `${stream}/cursor/longest_seconds`,
    { field: '/settings/depth', default: 3_600 },
    `${stream}/cursor/longest_seconds/field`,
    'add "unit"',
  ],
  [
    `${stream}/cursor/longest_seconds`,
    { field: '/settings/depth', unit: 'hours', default: 90, minimum: 90 },
    `${stream}/cursor/longest_seconds`,
    'at least twice the overlap',
  ],
  [`${stream}/page_size`, { field: '/settings/depth' }, `${stream}/page_size`, 'needs "default"'],
  [`${stream}/page_size`, { field: '/settings/tags', default: 5 }, `${stream}/page_size/field`, 'which is no number'],
  [
    `${stream}/page_size`,
    { field: '/settings/depth', default: 5, unit: 'days' },
    `${stream}/page_size/unit`,
    'not known',
  ],
  [
    '/poll/interval_seconds',
    { field: '/settings/depth', unit: 'hours', default: 5 },
    '/poll/interval_seconds/default',
    'from 10',
  ],
  ['/poll/rate/limit', { field: '/settings/tags', per: 'second' }, '/poll/rate/limit/field', 'which is no number'],
  ['/poll/rate/limit', { field: '/settings/depth', per: 'day' }, '/poll/rate/limit/per', 'must be "second"'],
  [`${stream}/records/omit`, {}, `${stream}/records/omit`, 'must have either "properties" or "except"'],
  [`${stream}/records/omit`, { properties: 'tags' }, `${stream}/records/omit/properties`, 'which is not in "values"'],
  [
    `${stream}/records/omit`,
    [{ except: ['a'], when: { field: '/settings/none' } }],
    `${stream}/records/omit/0/when/field`,
    'which is no field',
  ],
  [`${stream}/records/only`, { path: '/a' }, `${stream}/records/only`, 'compares nothing'],
  [`${stream}/records/only`, [{ path: '/a', not: 'tags' }], `${stream}/records/only/0/not`, 'which is not in "values"'],
  [
    `${stream}/records/only`,
    { path: '/a', missing: '/settings/depth' },
    `${stream}/records/only`,
    'which is no switch',
  ],
  [`${stream}/body`, { '{{when}}': 'x' }, `${stream}/body/{{when}}`, 'must be a text with the placeholder'],
  [`${stream}/body`, { '{{if}}': '{{since}}' }, `${stream}/body/{{if}}`, 'must be a name, or "{{when}}"'],
  [
    `${stream}/pagination`,
    { kind: 'offset', parameter: 'from', end: '/to' },
    `${stream}/pagination/end`,
    'in the same place',
  ],
  [`${stream}/cursor/start`, '/settings/depth', `${stream}/cursor/start`, 'is a number: use { "ago"'],
  [`${stream}/cursor/start`, { ago: '/settings/depth' }, `${stream}/cursor/start/ago`, 'add "unit"'],
  [`${stream}/cursor/start`, { ago: '/settings/tags' }, `${stream}/cursor/start/ago`, 'neither a number nor a text'],
  [`${stream}/cursor/start`, { ago: '/settings/depth', unit: 'months' }, `${stream}/cursor/start/unit`, 'must be "'],
  [`${stream}/cursor`, { kind: 'id' }, `${stream}/pagination`, 'must be "none"'],
  [`${stream}/pagination/parameter`, undefined, `${stream}/pagination`, 'needs "parameter"'],
  [`${stream}/pagination/parameter`, '/page/cursor', `${stream}/pagination/parameter`, 'points into the body'],
  [`${stream}/method`, 'PATCH', `${stream}/method`, 'must be "GET", "POST" or "PUT"'],
  [`${stream}/body`, 'text', `${stream}/body`, 'must be an object or a list'],
  [`${stream}/body`, { a: ['{{/settings/none}}'] }, `${stream}/body/a/0`, 'names /settings/none, which is no field'],
  [`${stream}/form`, { a: '{{/secrets/token}}' }, `${stream}/form/a`, 'holds the secret'],
  [`${stream}/graphql`, { query: ' ' }, `${stream}/graphql/query`, 'must be a GraphQL query'],
  [`${stream}/query/q`, '{{since:%Y %Q}}', `${stream}/query/q`, 'only a time has a form'],
  [`${stream}/query/q`, 'a:{{/settings/tags}}', `${stream}/query/q`, 'which is a list: use { "list"'],
  [`${stream}/query/q`, '{{/settings/labels}}', `${stream}/query/q`, 'which has fields of its own'],
  [`${stream}/query/q`, { list: '/settings/mode' }, `${stream}/query/q/list`, 'which is no list'],
  [`${stream}/query/q`, { list: '/settings/tags', by: ',' }, `${stream}/query/q/by`, 'is not known here'],
  [`${stream}/query/q`, '{{uuid}}', `${stream}/query/q`, "can't say {{uuid}}"],
  ['/poll/headers', { a: '{{uuid}}' }, '/poll/headers/a', "can't say {{uuid}}"],
  [`${stream}/headers`, { a: '{{/settings/none}}' }, `${stream}/headers/a`, 'names /settings/none'],
  [`${stream}/records/time_form`, 'minutes_ago', `${stream}/records/time_form`, 'must be the format of a time'],
  [`${stream}/records/time_form`, '%H:%M', `${stream}/records/time_form`, 'must be the format of a time'],
  [
    `${stream}/base_url`,
    'https://{{/settings/mode}}.example',
    `${stream}/base_url`,
    'mark that setting "x-destination"',
  ],
  ['/poll/time_zone', 'nowhere', '/poll/time_zone', 'must be a time zone'],
  [
    '/poll/base_url',
    { field: '/settings/mode', of: { fast: 'https://fast.example' } },
    '/poll/base_url/of',
    'lacks "safe"',
  ],
  [
    '/poll/base_url',
    { field: '/settings/mode', of: { fast: 'https://fast.example' } },
    '/poll/base_url/field',
    'mark that setting "x-destination"',
  ],
  [
    '/poll/base_url',
    { field: '/settings/url', of: { a: 'https://a.example' } },
    '/poll/base_url/field',
    'must name a setting with a choice',
  ],
  [`${stream}/records/shape`, 'rows', `${stream}/records`, 'needs "columns"'],
  [`${stream}/records/key`, 'k', `${stream}/records/key`, 'has no key to keep'],
  [`${stream}/records/add`, { a: '/data/*/b' }, `${stream}/records/add/a`, 'has more "*"'],
  [`${stream}/csv`, { delimiter: ';' }, `${stream}/csv`, 'is for the format "csv"'],
  [`${stream}/format`, 'lines', `${stream}/records/path`, 'a response in lines is a list'],
  [`${stream}/download_hosts`, ['com'], `${stream}/download_hosts/0`, 'must be the name of a host'],
  [`${stream}/responses`, [{ means: 'empty' }], `${stream}/responses/0`, 'matches every response'],
  [`${stream}/responses`, [{ status: 200, means: 'retry' }], `${stream}/responses/0`, 'rejects every success'],
  [`${stream}/responses`, [{ status: 400, in: ['a'], means: 'retry' }], `${stream}/responses/0`, 'compares no value'],
  ['/poll/responses', [{ status: 404, means: 'stop' }], '/poll/responses/0/means', 'must be "accepted"'],
  ['/poll/rate/quotas', [{ remaining: 'x' }], '/poll/rate/quotas/0', 'needs "reset"'],
  [`${stream}/query/q`, '{{page_size|text}}', `${stream}/query/q`, 'converts a value'],
  [`${stream}/body`, { a: '{{page_size|list}}' }, `${stream}/body/a`, "can't say {{page_size|list}}"],
  [
    `${stream}/query/q`,
    { list: '/settings/tags', item: 'x' },
    `${stream}/query/q/item`,
    'must be a text with "{{item}}"',
  ],
  [`${stream}/next`, { path: '/next/{{/settings/none}}' }, `${stream}/next/path`, 'names /settings/none'],
  [`${stream}/next`, { path: '/next', body: {}, form: {} }, `${stream}/next`, 'has more than one body'],
  ['/poll/check/path', '/{{until:date}}/{{page_size}}', '/poll/check/path', "can't say {{page_size}}"],
];

const [first] = goodPoll.streams;
const request = { path: '/x' };
const streams: [changes: object, at: string, message: string][] = [
  [{ pagination: { kind: 'none' }, cursor: { kind: 'link', overlap_seconds: 60 } }, '/cursor', 'follows a link'],
  [{ pagination: { kind: 'none' }, cursor: { kind: 'continue' } }, '/cursor', 'the pagination must give one'],
  [{ cursor: { kind: 'continue', first: { path: '/{{since}}', token: '/t' } } }, '/cursor/first/path', "can't say"],
  [
    { pagination: { kind: 'narrow' }, query: { since: '{{since}}' }, cursor: { kind: 'time', overlap_seconds: 60 } },
    '/pagination',
    'needs {{until}}',
  ],
  [{ pagination: { kind: 'narrow' }, cursor: { kind: 'none' } }, '/pagination', 'the cursor "time"'],
  [{ cursor: { kind: 'id', order: 'descending', more: '/more' } }, '/cursor', 'only without "order"'],
  [{ query: {}, cursor: { kind: 'time', overlap_seconds: 60 } }, '', 'must say {{since}}'],
  [{ cursor: { kind: 'time', overlap_seconds: 60, order: 'any' } }, '/cursor/order', 'the request says {{since}}'],
  [{ pagination: { kind: 'offset', parameter: 'skip', total_pages: '/n' } }, '/pagination/total_pages', 'is not known'],
  [{ pagination: { kind: 'body_cursor', path: '/a', parameter: 'a', json: true } }, '/pagination/json', 'in the body'],
  [{ page_line: 'last' }, '/page_line', 'is for the format "ndjson"'],
  [{ format: 'ndjson', page_line: 'last', records: { path: '', time: '/at' } }, '/records/path', 'must be "/records"'],
  [
    { acknowledge: { path: '/read' }, records: { path: '', id: '/id', time: '/at' } },
    '/acknowledge',
    'must say {{id}}',
  ],
  [{ acknowledge: { path: '/read/{{id}}' } }, '/records', 'needs one "id": records are acknowledged by it'],
  [
    { records: { path: '{{/settings/none}}', time: '/at' } },
    '/records/path',
    'names /settings/none, which is no field',
  ],
  [{ records: { path: '/{{/settings/mode}}', time: '/at' } }, '/records/path', 'must be a pointer into the response'],
  [
    { graphql: { query: '{ a }', given: '/settings/rows' } },
    '/graphql/given',
    'which is no list of objects with "name"',
  ],
  [{ pagination: { kind: 'body_headers', headers: {} } }, '/pagination/headers', 'names no header'],
  [{ pagination: { kind: 'body_headers', headers: { 'a b': '/a' } } }, '/pagination/headers/a b', 'is no header name'],
  [{ pagination: { kind: 'repeat' } }, '/cursor', 'with "resume": "again"'],
  [{ each: { values: [] } }, '/each/values', 'must be a list'],
  [{ each: { setting: '/settings/none' } }, '/each/setting', 'names /settings/none, which is no field'],
  [{ role: 'arn:aws:iam::123456789012:role/r' }, '', 'has "role", which nothing uses'],
  [{ each: { values: ['a'] } }, '/each', 'nothing says {{each}}'],
  [
    { each: { setting: '/settings/tags' }, base_url: 'https://{{each}}.acme.example' },
    '/base_url',
    'sends secrets to where /settings/tags says: mark that setting "x-destination"',
  ],
  [
    {
      each: { path: '/hosts', page_size: 9, records: { path: '', id: '' }, pagination: { kind: 'none' } },
      base_url: 'https://{{each}}.acme.example',
    },
    '/base_url',
    'a response must not decide where credentials are sent',
  ],
  [{ each: { values: ['a'] }, path: '/{{each/region}}' }, '/path', "can't say {{each/region}}"],
  [{ each: { setting: '/settings/tags', id: '/id' } }, '/each/setting', 'takes no "id"'],
  [{ query: { a: '{{page_size|path}}' } }, '/query/a', 'only in a "path"'],
  [
    { when: { field: '/settings/mode', in: ['slow'] } },
    '/when/in/0',
    'is no value of /settings/mode: it has "fast" or "safe"',
  ],
  [{ when: [{ field: '/settings/verbose', in: ['true'] }] }, '/when/0/in', 'leave it out'],
  [{ when: { field: 'kinds' } }, '/when/field', 'names none of "values"'],
  [{ when: { field: '/settings/none' } }, '/when/field', 'names /settings/none, which is no field'],
  [
    { detail: { path: '/{{/record/id}}', when: { field: '/settings/mode', in: [] } } },
    '/detail/when/in',
    'must be a list',
  ],
  [{ records: { path: '', time: '/at', add: { a: '{{since}}' } } }, '/records/add/a', "can't say {{since}}"],
  [{ job: { start: { path: '/x', id: '/id' } } }, '/job', 'needs "every_seconds", or a "schedule"'],
  [
    { job: { start: { path: '/x', id: '/id' }, again: { path: '/x', id: '/id' }, every_seconds: 60 } },
    '/job/again',
    'must say {{job}}',
  ],
  [{ detail: { path: '/all' } }, '/detail', 'must say {{/record/...}}'],
  [{ detail: { path: '/a/{{/record/id}}', base_url: 'https://{{/record/host}}' } }, '/detail/base_url', 'no field'],
  [{ path: '/{{/record/id}}' }, '/path', 'names /record/id, which is no field'],
  [{ detail: { path: '/a', query: { i: '{{ids}}' }, batch: 5, records: { path: '' } } }, '/records', 'one "id"'],
  [{ detail: { path: '/a/{{/record/id}}', ids: '/id' } }, '/detail/ids', 'is for details with "batch"'],
  [
    { detail: { path: '/{{/record/id}}', early: true }, cursor: { kind: 'id' } },
    '/detail/early',
    'is not for the cursor "id"',
  ],
  [
    { job: { start: { ...request, id: '/id' }, every_seconds: 60, parts: { path: '/p' } } },
    '/job/parts',
    'add "status"',
  ],
  [
    { job: { start: { ...request, id: '/id' }, every_seconds: 60, status: { ...request, value: '/s', done: ['x'] } } },
    '/job/status',
    'must say {{job}}',
  ],
];

test.each(streams)('reports a stream with %j at %s', (changes, at, message) => {
  expect(told(setAt(good, stream, { ...first, ...changes }))).toContainEqual(
    expect.stringMatching(`^${escape(`${FILE}#${stream}${at}: `)}.*${escape(message)}`),
  );
});

test('accepts parents of two levels, details and exports', () => {
  const list = { page_size: 10, records: { path: '/data', id: '/id' }, pagination: { kind: 'none' } };
  const nested = {
    ...first,
    each: { ...list, path: '/orgs/{{parent}}/teams', each: { ...list, path: '/orgs' } },
    path: '/orgs/{{parent}}/teams/{{each}}/events',
    detail: { path: '/events/{{/record/id}}' },
  };
  const exported = {
    ...first,
    query: {},
    records: { path: '/data', id: '/id', time: '/at' },
    pagination: { kind: 'none' },
    cursor: { kind: 'time', overlap_seconds: 60 },
    path: '/exports/{{job}}/{{part}}',
    job: {
      start: { path: '/exports', body: { since: '{{since}}' }, id: '/id' },
      status: { path: '/exports/{{job}}', value: '/status', done: ['done'] },
      parts: { path: '/parts' },
      every_seconds: 3_600,
    },
    detail: { path: '/events', query: { id: { list: 'ids' } }, batch: 20, records: { path: '/data', id: '/id' } },
  };
  expect(told(setAt(good, stream, nested))).toEqual([]);
  expect(told(setAt(good, stream, exported))).toEqual([]);
});

test.each(spoiled)('reports %s = %j at %s', (pointer, value, at, message) => {
  expect(told(setAt(good, pointer, value))).toContainEqual(
    expect.stringMatching(`^${escape(`${FILE}#${at}: `)}.*${escape(message)}`),
  );
});

test('reports duplicate stream names, a poll definition of an output and an incomplete choice', () => {
  const twice = { ...good, poll: { ...goodPoll, streams: [...goodPoll.streams, ...goodPoll.streams] } };
  expect(told(twice)).toEqual([`${FILE}#/poll/streams/1/name: is the name of two streams`]);
  const output = { ...good, kind: 'output', category: 'Universal' };
  expect(compile(sourcesOf(output, 'types/outputs/acme-logs.json')).problems.map(({ message }) => message)).toContain(
    'belongs to inputs: an output delivers',
  );
  const choice = {
    kind: 'choice',
    field: '/settings/mode',
    of: { fast: goodPoll.authentication, slow: goodPoll.authentication },
  };
  expect(told(setAt(good, '/poll/authentication', choice))).toEqual([
    `${FILE}#/poll/authentication/of: lacks "safe"`,
    `${FILE}#/poll/authentication/of/slow: is no value of the choice: it has "fast" or "safe"`,
  ]);
});

const toldOfStream = (changes: object): string[] =>
  told(setAt(good, '/poll/streams/0', { ...goodPoll.streams[0], ...changes })).map((text) => text.slice(FILE.length));

test('accepts lists, addresses by a choice and patterns of times', () => {
  const marked = setAt(good, '/config/settings/properties/mode/x-destination', true);
  const base = { field: '/settings/mode', of: { fast: 'https://fast.example/v1', safe: 'https://safe.example' } };
  const query = {
    since: '{{since:%Y-%m-%d %H:%M:%S}}',
    until: '{{until:nanoseconds}}',
    tag: { list: '/settings/tags' },
    n: 1,
  };
  const body = { tags: '{{/settings/tags}}' };
  const streams = [{ ...goodPoll.streams[0], base_url: '{{/settings/url}}/v2', query, body }];
  expect(told({ ...marked, poll: { ...goodPoll, base_url: base, time_zone: 'Europe/Berlin', streams } })).toEqual([]);
});

test('reports bodies that do not fit the request', () => {
  expect(toldOfStream({ body: {}, form: {} })).toEqual([
    '#/poll/streams/0: has more than one body: keep one of "body" or "form"',
  ]);
  expect(
    toldOfStream({
      graphql: { query: '{ a }' },
      pagination: { kind: 'body_cursor', path: '/next', parameter: '/after' },
    }),
  ).toEqual(['#/poll/streams/0/pagination/parameter: must be a variable of the query: "/variables/..."']);
});

test('the definition in README.md is valid', () => {
  const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const [, json = ''] = /## Poll[\s\S]*?```json\n([\s\S]*?)\n```/.exec(readme) ?? [];
  const withStart = setAt(goodType, '/config/settings/properties/start', {
    type: 'string',
    title: 'Start',
    format: 'date-time',
  });
  expect(told({ ...withStart, poll: JSON.parse(json) })).toEqual([]);
});

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
