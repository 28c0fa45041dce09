import { describe, expect, it } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const settings = '/config/settings/properties';
const secrets = '/config/secrets/properties';
const union = `${settings}/auth/oneOf`;
const TRANSPORT = 'mark it "x-transport": true, or say in not-transport.json why it does not';
const switchOf = (title: string) => ({ type: 'boolean', title, default: true });
const told = (value: unknown, file = FILE): string[] => compile(sourcesOf(value, file)).problems.map(describeProblem);

describe('compile', () => {
  it('accepts a valid type and adds the implied schema keywords', () => {
    const { types, problems } = compile(sourcesOf(goodType));
    expect(problems).toEqual([]);
    const config = types[0]?.config;
    expect(config?.settings).toMatchObject({ type: 'object', additionalProperties: false });
    expect(config?.settings.properties['rows']).toMatchObject({
      type: 'array',
      items: { type: 'object', additionalProperties: false },
    });
    expect(config?.settings.properties['labels']).toMatchObject({ type: 'object' });
    expect(config?.settings.properties['auth']).toMatchObject({
      type: 'object',
      oneOf: [
        { required: ['type'], additionalProperties: false },
        { required: ['type', 'key'], properties: { key: { type: 'object', additionalProperties: false } } },
      ],
    });
    expect(config?.secrets.properties['token']).toMatchObject({ writeOnly: true });
  });

  it('accepts a type without settings and secrets', () => {
    const { config: _config, order: _order, ...rest } = goodType;
    expect(told({ ...rest, config: {} })).toEqual([]);
  });

  it.each<[name: string, path: string, value: unknown, message: string]>([
    // Shape of the file.
    ['not an object', '', 7, 'must be an object'],
    ['an unknown key', '/colour', 'red', 'is not known here: use "$schema", "type_id"'],
    ['a missing key', '/vendor', undefined, 'needs "vendor"'],
    ['an invalid version', '/version', '1', 'must be a version like "1.0.0"'],
    ['an invalid type ID', '/type_id', 'Acme_Logs', 'must be lower-case letters, digits and "-"'],
    ['an invalid kind', '/kind', 'inputs', 'must be "input", "output" or "enrichment"'],
    ['settings that are not an object', `/config/settings/properties`, [], 'must be an object of fields'],
    ['an unknown field keyword', `${settings}/url/titel`, 'x', 'is not known here: use "title"'],
    ['a keyword of another field type', `${settings}/url/minimum`, 1, 'is not known here'],
    ['a field without title', `${settings}/depth/title`, undefined, 'needs "title", the label people see'],
    ['a field without type', `${settings}/depth/type`, undefined, 'is no field: give it a "type"'],
    ['an unknown format', `${settings}/url/format`, 'url', 'must be "uri", "hostname"'],
    ['an invalid field key', `${settings}/a b`, goodType.config.settings.properties.depth, 'key must be letters'],
    [
      'an x-when without values',
      `${settings}/only/x-when/in`,
      [],
      'must be { "path": "/settings/...", "in": [values] }',
    ],
    [
      'an x-when with an unknown keyword',
      `${settings}/only/x-when/if`,
      1,
      'must be made of "path", "in", "and" and "required"',
    ],
    ['an unknown required field', '/config/settings/required', ['nope'], 'names "nope", which is not under'],
    ['a secret group', `${secrets}/token`, { title: 'T', properties: {} }, 'a secret is a text or a map of texts'],
    [
      'a list in a row',
      `${settings}/rows/items/properties/name`,
      goodType.config.settings.properties.tags,
      'a column of a list is',
    ],
    ['a list of numbers', `${settings}/tags/items/type`, 'integer', 'a row is a text or an object'],
    ['a union with one variant', union, [goodType.config.settings.properties.auth.oneOf[0]], 'at least two variants'],
    ['a variant without title', `${union}/0/title`, undefined, 'needs "title"'],
    ['a variant without const', `${union}/0/properties/type`, undefined, 'must have one property with "const"'],
    [
      'variants with different discriminators',
      `${union}/0/properties`,
      { mode: { const: 'none' } },
      'name their choice differently: mode, type',
    ],
    [
      'a variant body that is not a group',
      `${union}/1/properties/key`,
      { type: 'string', title: 'K' },
      'must be an object with "properties"',
    ],
    // Rules of each field.
    ['a pattern that does not compile', `${settings}/url/pattern`, '^(a$', 'does not compile'],
    ['an unanchored pattern', `${settings}/url/pattern`, '^https', 'must be anchored: begin with "^" and end with "$"'],
    ['a pattern with more than linear time', `${settings}/url/pattern`, '^(a+)+$', 'may take more than linear time'],
    ['a pattern without a message', `${settings}/url/x-message`, undefined, 'needs "x-message"'],
    ['a pattern without example', `${settings}/url/examples`, undefined, 'needs "examples"'],
    ['an invalid example', `${settings}/url/examples`, ['http://x'], 'is not a value the field takes: pattern'],
    ['an invalid default', `${settings}/mode/default`, 'slow', 'is not a value the field takes: enum'],
    [
      'a default out of bounds',
      `${settings}/depth/default`,
      10,
      'is not a value the field takes: maximum {"maximum":9}',
    ],
    ['a minimum above the maximum', `${settings}/depth/minimum`, 10, 'is above "maximum"'],
    ['a minItems above maxItems', `${settings}/tags/minItems`, 6, 'is above "maxItems"'],
    ['a switch without default', `${settings}/verbose/default`, undefined, 'a switch is never empty'],
    ['a required switch', '/config/settings/required', ['verbose'], 'so it cannot be required'],
    ['a secret with a default', `${secrets}/token/default`, 'x', 'a secret has no default'],
    ['an unknown union default', `${settings}/auth/default`, 'other', 'must be "none" or "key"'],
    [
      'two variants with the same const',
      `${union}/1/properties/type/const`,
      'none',
      'two variants have the same "const"',
    ],
    // References.
    [
      'an order with an unknown field',
      '/order/0',
      '/settings/nope',
      'names /settings/nope, which is no field at the top level',
    ],
    ['an order with a repeated field', '/order/1', '/settings/url', 'names /settings/url twice'],
    [
      'a condition on an unknown setting',
      `${settings}/only/x-when/path`,
      '/settings/nope',
      'depends on /settings/nope, which is no setting',
    ],
    [
      'a condition on a secret',
      `${settings}/only/x-when/path`,
      '/secrets/token',
      'depends on /secrets/token, which is no setting',
    ],
    [
      'a condition on itself',
      `${settings}/mode/x-when`,
      { path: '/settings/mode', in: ['safe'] },
      'which is no setting',
    ],
    ['a condition on free text', `${settings}/only/x-when/path`, '/settings/url', 'which takes any value'],
    [
      'a condition that never holds',
      `${settings}/only/x-when/in`,
      ['slow'],
      'waits for "slow", which /settings/mode never holds',
    ],
    [
      'a conditional field that is required',
      '/config/settings/required',
      ['only'],
      'use "required": true inside "x-when" instead',
    ],
    [
      'a condition in a row',
      `${settings}/rows/items/properties/name/x-when`,
      { path: '/settings/mode', in: ['safe'] },
      'a row has no conditions',
    ],
    [
      'a condition on a setting that may be hidden',
      `${settings}/only/x-when`,
      { path: '/settings/auth/key/kind', in: ['a'] },
      'may be hidden itself: add { "path": "/settings/auth/type", "in": ["key"] } to "and"',
    ],
    ['an example of an enum field', `${settings}/mode/examples`, ['fast'], 'would look like the choice that was made'],
    ['secrets without a destination', `${settings}/url/x-destination`, undefined, 'nothing says where they are sent'],
    ['an order that names a missing secret', '/config/secrets', undefined, 'names /secrets/token, which is no field'],
    [
      'an unmarked transport field, recognized by its key (S32)',
      `${settings}/verify_ssl`,
      switchOf('Check certificates'),
      TRANSPORT,
    ],
    [
      'an unmarked transport field, recognized by its title (S32)',
      `${settings}/strict`,
      switchOf('Verify the host name'),
      TRANSPORT,
    ],
    [
      'an unmarked transport field, recognized by its choices (S32)',
      `${settings}/mode/enum`,
      ['http', 'https'],
      TRANSPORT,
    ],
    [
      'an unmarked transport field, recognized by its group (S32)',
      `${settings}/tls`,
      { title: 'More', properties: { on: switchOf('On') } },
      TRANSPORT,
    ],
    ['an unmarked certificate', `${settings}/peer`, { type: 'string', title: 'Peer', format: 'pem' }, TRANSPORT],
    ['an unmarked secret CA', `${secrets}/ca`, { type: 'string', title: 'Issuer', description: 'In Acme.' }, TRANSPORT],
    [
      'a transport mark in a row',
      `${settings}/rows/items/properties/name/x-transport`,
      true,
      'is marked inside a row: mark the list instead',
    ],
    ['a field with two marks', `${settings}/url/x-transport`, true, 'has "x-destination" and "x-transport"'],
    ['a transport mark that is not true', `${settings}/mode/x-transport`, false, 'must be true, or absent'],
    // User-facing texts.
    [
      'a help text that is too long',
      `${settings}/url/description`,
      `${'a'.repeat(140)}.`,
      'is 141 characters long: say it in 140',
    ],
    ['a help text without period', `${settings}/url/description`, 'Where it is', 'is a sentence: end it with a period'],
    ['a label with a period', `${settings}/url/title`, 'URL.', 'is a label: no period at the end'],
    ['stray spaces', `${settings}/url/title`, 'URL ', 'has stray spaces'],
    ['markup', '/description', 'Who <b>signed</b> in.', 'is plain text: no markup'],
    [
      'a secret without help',
      `${secrets}/token/description`,
      undefined,
      "where in the vendor's console the secret is found",
    ],
    ['a value without label', `${settings}/mode/x-labels`, { fast: 'Fast' }, 'needs a label for "safe"'],
    ['a label without value', `${settings}/mode/x-labels/slow`, 'Slow', 'labels "slow", which is not in "enum"'],
    ['a category of the other kind', '/category', 'SIEM', 'is no category of inputs: use "AI Tools"'],
    ['an unknown category', '/category', 'Things', 'must be "AI Tools"'],
    // Checks across files.
    ['a type in the wrong file', '/type_id', 'acme-events', 'belongs in types/inputs/acme-events.json'],
    ['an output of an unknown type', `${settings}/url/x-output`, 'acme', 'names acme, which is no type of output'],
    ['an unknown icon', '/icon', 'acme', '"acme" is not in icons.json'],
  ])('rejects %s', (_name, path, value, message) => {
    const spoiled: unknown = path === '' ? value : setAt(goodType, path, value);
    expect(told(spoiled).join('\n')).toContain(message);
  });

  it('accepts a condition on a field of a variant if "and" names the choice of that variant', () => {
    const chained = setAt(goodType, `${settings}/only/x-when`, {
      path: '/settings/auth/key/kind',
      in: ['a'],
      and: [{ path: '/settings/auth/type', in: ['key'] }],
    });
    expect(told(chained)).toEqual([]);
  });

  it('accepts a fixed destination instead of a destination field, but only in a type with secrets', () => {
    const fixed = setAt(
      setAt(goodType, `${settings}/url/x-destination`, undefined),
      '/fixed_destination',
      'api.acme.example',
    );
    expect(told(fixed)).toEqual([]);
    const open = setAt(setAt(fixed, '/config/secrets', undefined), '/order', ['/settings/url']);
    expect(told(open)).toEqual([`${FILE}#/fixed_destination: has no secrets to send: remove it`]);
  });

  it('accepts a marked transport field or group, and an unmarked field in a type without secrets', () => {
    const marked = { ...switchOf('Check certificates'), 'x-transport': true };
    expect(told(setAt(goodType, `${settings}/verify_ssl`, marked))).toEqual([]);
    const group = { title: 'More', 'x-transport': true, properties: { on: switchOf('On') } };
    expect(told(setAt(goodType, `${settings}/tls`, group))).toEqual([]);
    const bare = setAt(goodType, `${settings}/verify_ssl`, switchOf('Check certificates'));
    expect(told(setAt(setAt(bare, '/config/secrets', undefined), '/order', ['/settings/url']))).toEqual([]);
  });

  it('accepts exceptions in not-transport.json by path and title, and reports unused or invalid ones', () => {
    const type = setAt(goodType, `${settings}/http_path`, { type: 'string', title: 'HTTP path' });
    const compiled = (value: unknown): string[] =>
      compile({
        ...sourcesOf(type),
        notTransport: { file: 'not-transport.json', value },
      }).problems.map(describeProblem);
    const entry = { path: '/settings/http_path', title: 'HTTP path', reason: 'A path.' };
    expect(compiled([entry])).toEqual([]);
    expect(compiled([{ ...entry, title: 'Path' }]).join('\n')).toContain(TRANSPORT);
    expect(compiled([entry, { ...entry, path: '/settings/gone' }])).toEqual([
      'not-transport.json#/1: no field needs this exception (/settings/gone): delete it',
    ]);
    expect(compiled([entry, { path: '/settings/gone', title: 'Gone' }])).toEqual([
      'not-transport.json#/1: must be { "path", "title", "reason" }',
    ]);
    expect(compiled({})).toContain('not-transport.json: must be a list');
  });

  it('rejects nesting deeper than eight levels', () => {
    let field: Record<string, unknown> = { type: 'string', title: 'Deep' };
    for (let depth = 0; depth < 8; depth++) field = { title: 'Deep', properties: { a: field } };
    expect(told(setAt(goodType, `${settings}/deep`, field)).join('\n')).toContain('nested deeper than 8 levels');
  });

  it('reports duplicate names, different icons for one type ID and unused icons', () => {
    const twin = { ...goodType, type_id: 'acme-twin' };
    const output = { ...goodType, kind: 'output', category: 'SIEM', icon: 'acme' };
    const { problems } = compile({
      ...sourcesOf(goodType),
      types: [
        { file: FILE, value: goodType },
        { file: 'types/inputs/acme-twin.json', value: twin },
        { file: 'types/outputs/acme-logs.json', value: output },
      ],
      icons: { file: 'icons.json', value: { acme: {}, unused: {} } },
    });
    expect(problems.map(describeProblem)).toEqual([
      'types/inputs/acme-twin.json#/name: is also the name of types/inputs/acme-logs.json: people could not tell them apart',
      'types/outputs/acme-logs.json#/icon: must be the icon of types/inputs/acme-logs.json: both have the same type_id',
      'icons.json#/unused: no type uses this icon: delete it',
    ]);
  });
});
