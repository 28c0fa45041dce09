import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isPlain } from '../validate/objects.js';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const poll = {
  verified: 'documented',
  documentation: ['https://acme.example/docs'],
  base_url: 'https://api.acme.example',
  streams: [
    {
      name: 'events',
      path: '/events',
      page_size: 1,
      records: { path: '' },
      pagination: { kind: 'none' },
      cursor: { kind: 'none' },
    },
  ],
  check: { path: '/events', records: { path: '' } },
};

const { settings, secrets } = goodType.config;
const text = { type: 'string', title: 'Field' };
const region = {
  ...text,
  enum: ['us', 'eu'],
  'x-labels': { us: 'US', eu: 'EU' },
  default: 'us',
  'x-destination': true,
};

/** The problems of a type with this authentication, which has all fields in it and no others. */
function problemsOf(authentication: unknown, added: Record<string, unknown> = {}): string[] {
  const json = JSON.stringify(authentication);
  const named = (section: string) =>
    Object.fromEntries(
      [...json.matchAll(new RegExp(`/${section}/(\\w+)`, 'g'))].map(([, name = '']) => [
        name,
        name === 'region' ? region : { ...text, ...(section === 'secrets' && { description: 'In Acme.' }) },
      ]),
    );
  const type = {
    ...goodType,
    poll: { ...poll, authentication },
    fixed_destination: 'api.acme.example',
    config: {
      settings: { ...settings, properties: { ...named('settings'), ...settings.properties, ...added } },
      secrets: { ...secrets, properties: { ...named('secrets'), ...secrets.properties } },
    },
  };
  return compile(sourcesOf(type))
    .problems.map(describeProblem)
    .filter((problem) => problem.includes('/poll'))
    .map((problem) => problem.replace(`${FILE}#/poll`, '').replace(/^\/authentication/, ''));
}

const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
const [section = ''] = /### Authentication[\s\S]*?(?=\n## )/.exec(readme) ?? [];
const examples = [...section.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, json = '']): unknown => JSON.parse(json));
const kindOf = (value: unknown): unknown => (isPlain(value) ? value['kind'] : undefined);
function exampleOf(kind: string): object {
  const found = examples.find((example) => kindOf(example) === kind);
  if (!isPlain(found)) throw new Error(`no example of ${kind}`);
  return found;
}

describe('authentication', () => {
  test.each(examples.map((example) => [kindOf(example), example]))(
    'the example of %s in README.md is valid',
    (_kind, example) => expect(problemsOf(example)).toEqual([]),
  );

  test.each<[kind: string, pointer: string, value: unknown, problem: string]>([
    ['fields', '/headers', 'x', '/headers: must be an object'],
    ['fields', '/headers/X-Account', 'a\nb', '/headers/X-Account: must be a text in one line'],
    [
      'fields',
      '/query/key',
      '{{since}}',
      `/query/key: can't say {{since}}: here it takes "/settings/..." or "/secrets/..."`,
    ],
    ['digest', '/password', undefined, ': needs "password"'],
    [
      'client_credentials',
      '/token_url',
      'http://acme.example',
      '/token_url: must be an address that begins with https://',
    ],
    ['client_credentials', '/token_url/of', { us: 'https://a.example/' }, '/token_url/of: lacks "eu"'],
    [
      'client_credentials',
      '/token_url/of/eu',
      'https://{{/secrets/token}}.acme.example/',
      '/token_url/of/eu: holds the secret /secrets/token',
    ],
    [
      'client_credentials',
      '/token_url',
      'https://{{/settings/only}}.acme.example/',
      '/token_url: sends secrets to where /settings/only says',
    ],
    [
      'client_credentials',
      '/token_url',
      { field: '/settings/mode', of: { fast: 'https://a.example/', safe: 'https://b.example/' } },
      '/token_url/field: sends secrets to where /settings/mode says',
    ],
    [
      'client_credentials',
      '/host',
      { path: '/h', suffixes: ['com'] },
      '/host/suffixes/0: must be the end of a host name',
    ],
    [
      'client_credentials',
      '/host',
      { path: '/h', suffixes: ['.com'] },
      '/host/suffixes/0: must be the end of a host name',
    ],
    ['refresh_token', '/refresh_token', '/settings/only', '/refresh_token: must be the pointer of a secret'],
    ['private_key_jwt', '/key_format', 'text', '/key_format: must be "text" or "base64" for an "HS" algorithm'],
    ['jwt', '/key_format', 'pem', '/key_format: must be "text" or "base64" for an "HS" algorithm'],
    ['login', '/requests', [], '/requests: must be a list, with something in it'],
    ['login', '/requests/0/url', 'login', '/requests/0/url: must be an address that begins with https://, or a path'],
    ['login', '/requests/0/url', '/{{/secrets/token}}', '/requests/0/url: holds the secret /secrets/token'],
    ['login', '/requests/0/form', { a: 'b' }, '/requests/0: has two bodies'],
    ['login', '/requests/0/method', 'GET', '/requests/0/method: has no body'],
    ['login', '/requests/0/json', { a: ['{{token}}'] }, "/requests/0/json/a/0: can't say {{token}}"],
    ['login', '/send', { headers: { a: '{{other}}' } }, "/send/headers/a: can't say {{other}}"],
    ['login', '/send', {}, '/send: sends nothing'],
    ['login', '/send/cookies', 'some', '/send/cookies: must be "all"'],
    ['login', '/lifetime', { path: '/a', until: 'minutes' }, '/lifetime/until: must be "rfc3339"'],
    ['signature', '/steps/3/of', '{{timestamp:lower}}', '/steps/3/of: {{timestamp:lower}}: the form is "rfc3339"'],
    ['signature', '/steps/1/of', '{{signature}}', "/steps/1/of: can't say {{signature}}"],
    ['signature', '/steps/1/name', 'body', '/steps/1/name: is the name of another placeholder'],
    ['signature', '/steps/2/algorithm', 'crc', '/steps/2/algorithm: must be "md5"'],
    ['signature', '/headers', undefined, ': sends nothing'],
    ['signature', '/steps/2/of', '{{timestamp:days_ago}}', '/steps/2/of: {{timestamp:days_ago}}: the form is'],
    ['login', '/steps', [{ kind: 'text', name: 'a', of: '{{method}}' }], "/steps/0/of: can't say {{method}}"],
    ['login', '/send/headers/X', '{{timestamp}}', "/send/headers/X: can't say {{timestamp}}"],
    ['jwt', '/claims', { at: '{{timestamp}}' }, "/claims/at: can't say {{timestamp}}"],
  ])('of kind %s reports %s = %j', (kind, pointer, value, problem) => {
    expect(problemsOf(setAt(exampleOf(kind), pointer, value))).toContainEqual(expect.stringContaining(problem));
  });

  test('rejects a setting that protects the connection and would be ignored', () => {
    const none = { kind: 'none' };
    const mark = { ...text, 'x-transport': true };
    expect(
      problemsOf(none, { verify_ssl: { type: 'boolean', title: 'Check', default: true, 'x-transport': true } }),
    ).toEqual([]);
    expect(problemsOf(none, { sasl_mechanism: mark })).toContainEqual(
      expect.stringContaining('/settings/sasl_mechanism'),
    );
  });

  test('accepts the path of a login with a setting, and headers of a signature', () => {
    expect(problemsOf(setAt(exampleOf('login'), '/requests/0/url', '/{{/settings/tenant}}/login'))).toEqual([]);
    expect(problemsOf(setAt(exampleOf('signature'), '/steps/3/of', '{{header.date:lower}}'))).toEqual([]);
  });
});
