import { describe, expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const PROVIDER = 'providers/acme.json';
const provider = {
  name: 'Acme',
  documentation: ['https://acme.example/docs/oauth'],
  authorization_url: '{{/settings/url}}/oauth/authorize',
  token_url: '{{/settings/url}}/oauth/token',
  suffixes: ['.acme.example'],
  client: 'body',
  parameters: { prompt: 'consent' },
  account: { from: 'url', url: 'https://api.acme.example/me', path: '/login' },
};
const oauth = { provider: 'acme', secret: '/secrets/token', scopes: ['logs.read'], parameters: { audience: 'logs' } };
const good = { ...goodType, oauth };

const compiled = (value: unknown, server: unknown = provider) =>
  compile({ ...sourcesOf(value), providers: new Map([['acme', { file: PROVIDER, value: server }]]) });
const problemsOf = (value: unknown, server: unknown = provider): string[] =>
  compiled(value, server).problems.map(describeProblem);

test('adds the definition of the provider, with the parameters of both', () => {
  const { types, problems } = compiled(good);
  expect(problems).toEqual([]);
  expect(types[0]?.oauth).toEqual({ ...provider, ...oauth, parameters: { prompt: 'consent', audience: 'logs' } });
});

test('lets a type override its provider', () => {
  const { types } = compiled({ ...good, oauth: { ...oauth, scope_parameter: 'user_scope', client: 'basic' } });
  expect(types[0]?.oauth).toMatchObject({ client: 'basic', scope_parameter: 'user_scope', name: 'Acme' });
});

test.each<[pointer: string, value: unknown, at: string, message: string]>([
  ['/oauth/provider', 'other', '/oauth/provider', 'is not in providers: use "acme"'],
  ['/oauth/secret', '/secrets/none', '/oauth/secret', 'must name a secret that is a text'],
  ['/oauth/scopes', 'logs.read', '/oauth/scopes', 'must be a list'],
  ['/oauth/colour', 'red', '/oauth/colour', 'is not known here'],
  ['/oauth/when', [{ path: '/settings/none', in: ['x'] }], '/oauth/when/0/path', 'no setting of this type'],
  ['/oauth/when', [{ path: '/settings/mode', in: ['slow'] }], '/oauth/when/0/in', 'has a value that the choice lacks'],
  ['/oauth/token_url', 'http://acme.example/token', '/oauth/token_url', 'must be an address with https://'],
  ['/oauth/token_url', 'https://{{/settings/mode}}.acme.example/token', '/oauth', 'mark that setting "x-destination"'],
])('rejects %s = %j', (pointer, value, at, message) => {
  const spoiled = setAt(good, pointer, value);
  expect(problemsOf(spoiled)).toContainEqual(expect.stringContaining(`${FILE}#${at}`));
  expect(problemsOf(spoiled).join('\n')).toContain(message);
});

test("rejects a type that would send the vendor's token to a host that a setting names", () => {
  const fixed = {
    ...provider,
    authorization_url: 'https://acme.example/auth',
    token_url: 'https://acme.example/token',
  };
  expect(problemsOf(good, fixed)).toEqual([
    expect.stringContaining("would send the vendor's token to where /settings/url"),
  ]);
  const limited = { ...good, oauth: { ...oauth, when: [{ path: '/settings/url', in: ['https://acme.example'] }] } };
  expect(problemsOf(limited, fixed)).toEqual([]);
});

test('rejects a provider that is incomplete or unused', () => {
  expect(problemsOf(good, { ...provider, client: 'header' })).toContainEqual(
    `${PROVIDER}#/client: must be "basic" or "body"`,
  );
  expect(problemsOf(goodType)).toEqual([`${PROVIDER}: no type uses this provider: delete it`]);
});

test("rejects a type whose settings decide where the client's secret is sent", () => {
  const { suffixes: _, ...anywhere } = provider;
  for (const token_url of [
    provider.token_url,
    'https://{{/settings/url}}/token',
    'https://login.{{/settings/url}}/token',
  ])
    expect(problemsOf(good, { ...anywhere, authorization_url: 'https://acme.example/auth', token_url })).toEqual([
      expect.stringContaining("the client's secret is sent to any host that a setting names"),
    ]);
  const own = 'https://{{/settings/url}}.acme.example/{{/settings/url}}/token';
  expect(problemsOf(good, { ...anywhere, authorization_url: own, token_url: own })).toEqual([]);
});

describe('a choice that needs a client', () => {
  const { mode } = goodType.config.settings.properties;
  const { token } = goodType.config.secrets.properties;
  const when = [{ path: '/settings/mode', in: ['fast'] }];
  const typeWith = (oauthOf: object, secretOf: object) => ({
    ...good,
    oauth: { ...oauth, when, needs_client: true, ...oauthOf },
    config: {
      ...good.config,
      secrets: { properties: { token: { ...token, 'x-when': { path: '/settings/mode', in: ['fast'] }, ...secretOf } } },
    },
  });

  test('is one of two ways to sign in, and not the default', () => {
    expect(mode).toMatchObject({ enum: ['fast', 'safe'], default: 'safe' });
    expect(problemsOf(typeWith({}, {}))).toEqual([]);
  });

  test.each([
    ['no choice', { when: [{ path: '/settings/url', in: ['https://a.acme.example'] }] }, {}, 'needs "when" with one'],
    ['the default', { when: [{ path: '/settings/mode', in: ['safe'] }] }, {}, 'whose default is another'],
    [
      'a secret that is always shown',
      {},
      { 'x-when': { path: '/settings/verbose', in: [true] } },
      'a secret that depends on /settings/mode',
    ],
  ])('is rejected with %s', (_what, oauthOf, secretOf, message) => {
    expect(problemsOf(typeWith(oauthOf, secretOf)).join('\n')).toContain(message);
  });
});

test('a site is found by a setting, and has a fixed host', () => {
  const site = {
    list_url: 'https://api.acme.example/sites',
    match: '/url',
    address: 'https://{{/settings/url}}',
    id: '/id',
    base_url: 'https://api.acme.example/{{site}}',
  };
  const fixed = {
    name: 'Acme',
    documentation: provider.documentation,
    authorization_url: 'https://acme.example/auth',
    token_url: 'https://acme.example/token',
    client: 'body',
  };
  expect(problemsOf({ ...good, oauth: { ...oauth, site } }, fixed)).toEqual([]);
  for (const spoiled of [{ base_url: '{{/settings/url}}/{{site}}' }, { list_url: 'https://{{/settings/url}}/sites' }])
    expect(problemsOf({ ...good, oauth: { ...oauth, site: { ...site, ...spoiled } } }, fixed)).toContainEqual(
      expect.stringContaining(`#/oauth/site/${Object.keys(spoiled)[0]}`),
    );
});
