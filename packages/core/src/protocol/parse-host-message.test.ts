import { describe, expect, test } from 'vitest';
import { parseHostMessage } from './parse-host-message.js';

const source = 'monad-embed';
const init = {
  source,
  type: 'init',
  version: 1,
  sessionToken: 'token',
  apiBase: 'https://api.example.com',
  organizationId: 'org_1',
  typeId: 'okta-systemlog',
  kind: 'input',
};

/** As structured clone hands it over: `__proto__` is a key like any other. */
const cloned = (json: string): unknown => structuredClone(JSON.parse(json));

test('returns a minimal init message unchanged', () => {
  expect(parseHostMessage(init)).toEqual(init);
});

test('returns a full init message unchanged', () => {
  const full = {
    ...init,
    kind: 'output',
    existingId: 'con_1',
    displayName: 'Okta',
    name: '',
    description: 'x',
    isNameEditable: true,
    isDescriptionEditable: false,
    synthetic: false,
    appearance: { colorPrimary: 'red', borderRadius: '4px' },
    stylesheets: ['https://app.example.com/form.css'],
    configMetaOverrides: {
      settings: {
        url: { name: 'Address', description: '', placeholder: 'x', children: { port: { name: 'Port' } } },
        auth: { discriminator: { name: 'How', description: 'd', one_of: { basic: { name: 'Password' } } } },
      },
      secrets: { token: { name: 'Token' } },
    },
  };
  expect(parseHostMessage(full)).toEqual(full);
});

test('returns the token and the expiration of a session message and drops other fields', () => {
  expect(parseHostMessage({ source, type: 'session', sessionToken: 'fresh' })).toEqual({
    source,
    type: 'session',
    sessionToken: 'fresh',
  });
  const until = { source, type: 'session', sessionToken: 'fresh', expiresAt: '2026-11-12T10:00:00Z' };
  expect(parseHostMessage({ ...until, extra: 1 })).toEqual(until);
});

test.each(['save', 'test', 'cancel'])('accepts the command %s and drops other fields', (command) => {
  expect(parseHostMessage({ source, type: 'command', command, extra: 1 })).toEqual({
    source,
    type: 'command',
    command,
  });
});

test.each([undefined, null, '', 'delete', 'SAVE', ['save'], { toString: () => 'save' }, 7])(
  'rejects the command %j',
  (command) => {
    expect(parseHostMessage({ source, type: 'command', command })).toBeUndefined();
  },
);

test('drops other fields of a leave message and rejects another source or inherited fields', () => {
  expect(parseHostMessage({ source, type: 'leave', extra: 1 })).toEqual({ source, type: 'leave' });
  expect(parseHostMessage({ source: 'other', type: 'leave' })).toBeUndefined();
  expect(parseHostMessage(Object.create({ source, type: 'leave' }))).toBeUndefined();
});

const required = ['sessionToken', 'apiBase', 'organizationId', 'typeId', 'kind', 'version'] as const;
const bad = [undefined, null, '', 7, {}, [], 'x'.repeat(65_537)];

test.each(required.flatMap((name) => bad.map((value) => ({ name, value }))))(
  'rejects an init message with $name = $value',
  ({ name, value }) => {
    if (name === 'version' && value === 7) return;
    expect(parseHostMessage({ ...init, [name]: value })).toBeUndefined();
  },
);

test.each([null, 'init', [], {}, { ...init, source: 'x' }, { ...init, type: 'INIT' }, { ...init, version: 2 }])(
  'rejects %j',
  (data) => {
    expect(parseHostMessage(data)).toBeUndefined();
  },
);

test.each([7, {}, ['con_1'], true, 'x'.repeat(65_537)])(
  'rejects an init message with the existingId %j',
  (existingId) => {
    expect(parseHostMessage({ ...init, existingId })).toBeUndefined();
  },
);

test('ignores malformed options', () => {
  const malformed = {
    ...init,
    existingId: '',
    displayName: 7,
    name: { toString: 'x' },
    description: ['x'],
    isNameEditable: 'true',
    isDescriptionEditable: 1,
    synthetic: null,
    appearance: 'dark',
    stylesheets: '/form.css',
    configMetaOverrides: [],
    onSave: 'x',
  };
  expect(parseHostMessage(malformed)).toEqual(init);
  expect(
    parseHostMessage({ ...init, appearance: { colorPrimary: 7, color: 'red' }, stylesheets: [7, '/a.css'] }),
  ).toEqual({ ...init, appearance: {}, stylesheets: ['/a.css'] });
});

test('ignores inherited fields', () => {
  expect(parseHostMessage(Object.create(init))).toBeUndefined();
  expect(parseHostMessage({ ...init, appearance: Object.create({ colorText: 'red' }) })).toEqual({
    ...init,
    appearance: {},
  });
});

/** What is left of overrides. */
function overridesOf(configMetaOverrides: unknown) {
  const message = parseHostMessage({ ...init, configMetaOverrides });
  return message?.type === 'init' ? message.configMetaOverrides : undefined;
}

const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { name: 'x' }]));

describe('overrides (S17)', () => {
  test('drops __proto__, constructor and prototype keys', () => {
    const text =
      '{"settings": {"__proto__": {"name": "a"}, "constructor": {"name": "b"}, "prototype": {"name": "c"}, "url": {"name": "d", "__proto__": {"x": 1}}}}';
    const overrides = overridesOf(cloned(text));
    expect(JSON.stringify(overrides)).toBe('{"settings":{"url":{"name":"d"}}}');
    expect(Object.hasOwn(Object.prototype, 'name')).toBe(false);
  });

  test('returns dictionaries without a prototype', () => {
    const { settings = {} } = overridesOf({ settings: { url: { children: {} } } }) ?? {};
    expect('toString' in settings).toBe(false);
    expect('toString' in (settings['url']?.children ?? {})).toBe(false);
  });

  test('drops fields nested deeper than eight levels', () => {
    let nested: object = { name: 'bottom' };
    for (let depth = 0; depth < 20; depth += 1) nested = { name: `${depth}`, children: { next: nested } };
    const text = JSON.stringify(overridesOf({ settings: { root: nested } }));
    expect(text.match(/"name"/g)).toHaveLength(8);
  });

  test('drops overrides with more than 2,000 fields', () => {
    expect(Object.keys(overridesOf({ settings: fields(2_000) })?.settings ?? {})).toHaveLength(2_000);
    expect(overridesOf({ settings: fields(1_500), secrets: fields(501) })).toBeUndefined();
  });

  test('drops strings that are too long and values that are not strings', () => {
    const url = { name: 'x'.repeat(65_537), description: 7, placeholder: { html: '<b>' }, unknown: 'x' };
    expect(overridesOf({ settings: { url, host: 'Server', port: null } })).toEqual({ settings: { url: {} } });
  });
});
