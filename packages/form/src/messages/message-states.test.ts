import { generateKeyPairSync } from 'node:crypto';
import type { FieldSchema, MapSchema, StringSchema } from '@connector-frame/catalog/types';
import { describe, expect, it } from 'vitest';
import type { FormState } from '../model/state.js';
import type { AccountOffer } from '../model/account.js';
import {
  accountType,
  endedConnector,
  openAccountForm,
  testWindow,
  type AccountOutcome,
} from '../testing/account-forms.js';
import { exampleConnector, exampleType } from '../testing/example-type.js';
import { errorResponse, json } from '../testing/fake-service.js';
import { isSaid, messageKeys, modelStates, pageStates } from '../testing/message-states.js';
import { fillIn, openedForm, openForm, type OpenOptions } from '../testing/open-form.js';
import en from './en.json' with { type: 'json' };

type Field = [schema: FieldSchema, value?: unknown];

/** Returns a type with these settings or, with `writeOnly`, secrets: `/settings/f0`, `/secrets/f1`. */
function typeOf(schemas: readonly FieldSchema[]): NonNullable<OpenOptions['type']> {
  const titled = schemas.map((schema, index) => [`f${index}`, { title: 'Thing', ...schema }] as const);
  const section = (secret: boolean) => {
    const fields = titled.filter(([, schema]) => 'writeOnly' in schema === secret);
    return { type: 'object', additionalProperties: false, properties: Object.fromEntries(fields) } as const;
  };
  const names = (secret: boolean) => Object.keys(section(secret).properties);
  const config = {
    settings: { ...section(false), required: names(false) },
    secrets: { ...section(true), required: names(true) },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields were split by `writeOnly`
  return { ...exampleType, order: [], config: config as (typeof exampleType)['config'] };
}

/** Enters a value in each field, saves, and returns the errors that are displayed. */
async function errorsOf(...fields: Field[]): Promise<string[]> {
  const type = typeOf(fields.map(([schema]) => schema));
  const { form, service } = await openedForm({}, { type });
  fields.forEach(([schema, value], index) => {
    const path = `/${'writeOnly' in schema ? 'secrets' : 'settings'}/f${index}`;
    if (value !== undefined) form.setValue(path, value);
  });
  await form.save();
  expect(service.calls).toEqual([]);
  return form.summary.map(({ path, message }) => {
    expect(form.error(path)).toBe(message);
    return message;
  });
}

const text = (rules: Omit<StringSchema, 'type'> = {}): StringSchema => ({ type: 'string', ...rules });
const secret = (rules: Omit<StringSchema, 'type'> = {}): StringSchema => text({ ...rules, writeOnly: true });
const list = (rules: object = {}): FieldSchema => ({ type: 'array', items: text(), ...rules });
const map: MapSchema = { type: 'object', additionalProperties: text() };
const variant = (value: string) => ({
  title: value,
  properties: { type: { const: value } },
  required: ['type'],
  additionalProperties: false as const,
});

const pem = (label: string, body = 'MIIB'): string => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;
const encryptedKey = generateKeyPairSync('ed25519').privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'secret',
});

/** Returns the messages and hints of a state, except those of a test that passed. */
const said = (state: FormState): string[] => {
  const failures = [
    'failure' in state && state.failure,
    state.phase === 'editing' && state.test.state === 'failed' && state.test.failure,
  ];
  return failures.flatMap((failure) => (failure ? [failure.message, failure.hint ?? ''] : []));
};

/** Loads a form while the service responds so to the first requests, and returns what it says. */
async function saidOnLoad(init: object, ...responses: (Response | Error)[]): Promise<string[]> {
  const { form, service, loaded } = openForm(init, { online: () => true });
  service.next.push(...responses);
  await loaded;
  return said(form.state);
}

/** Saves or tests a complete form while the service responds so, and returns what the form says. */
async function saidAfter(action: 'save' | 'test', responses: (Response | Error)[], init = {}): Promise<string[]> {
  const opened = await openedForm(init);
  if (!('existingId' in init)) fillIn(opened);
  else opened.form.setValue('/settings/page_size', 5);
  opened.service.next.push(...responses);
  await opened.form[action]();
  return said(opened.form.state);
}

const lost = Array.from({ length: 4 }, () => new TypeError('Failed to fetch'));
const limited = (details: object): Response => errorResponse(429, 'rate_limited', details, { 'retry-after': '60' });

/** Returns what the form says about a type that can't run. */
async function limitation(reason: string): Promise<string> {
  const { form, service, loaded } = openForm();
  const supported_features = { test_connection: true, runtime: false };
  service.next.push(json({ ...exampleType, supported_features, unavailable: { reason } }));
  await loaded;
  return form.state.phase === 'editing' ? form.state.subject.limitation || '' : '';
}

/** Connects an account, and returns the texts on the way. */
async function textsOfAccount(outcome: AccountOutcome | 'blocked' | 'closed'): Promise<string[]> {
  const window = testWindow();
  window.closed = outcome === 'closed';
  const outcomes = outcome === 'blocked' || outcome === 'closed' ? [] : [outcome];
  const { form } = await openAccountForm([...outcomes, 'pending', 'connected'], () =>
    outcome === 'blocked' ? undefined : window,
  );
  const texts: string[] = [];
  const note = (): void => {
    const offer = form.account('/secrets/token');
    if (offer) texts.push(offer.action, offer.note);
  };
  form.subscribe('/secrets/token', note);
  note();
  texts.push((await form.connectAccount('/secrets/token')) ?? '');
  return texts;
}

const drivers: { [State in keyof typeof modelStates]: () => Promise<string[]> } = {
  'a required value is missing': () =>
    errorsOf(
      [text()],
      [text({ enum: ['a', 'b'] })],
      [{ type: 'object', oneOf: [variant('a'), variant('b')] }],
      [list()],
      [{ type: 'array', items: { type: 'object', properties: { a: text() }, additionalProperties: false } }],
      [map],
    ),
  'a map has a value without a name, or a name without a value': () =>
    errorsOf(
      [map, [{ key: '', value: 'x' }]],
      [map, [{ key: 'X-A', value: '' }]],
      [{ ...map, writeOnly: true }, [{ key: 'X-B', value: '' }]],
    ),
  'a stored secret does not apply to the changed address': async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/org_url', 'https://other.okta.com');
    await form.save();
    return form.summary.map(({ message }) => message);
  },
  'a stored secret is being replaced, and nothing is entered': async () => {
    const { form } = await openedForm({ existingId: 'con_1' });
    form.replaceSecret('/secrets/token');
    await form.save();
    return form.summary.map(({ message }) => message);
  },
  'a text is too short or too long': () => errorsOf([text({ minLength: 5 }), 'a'], [text({ maxLength: 5 }), 'abcdef']),
  'a list has too few or too many rows, or the same one twice': () =>
    errorsOf(
      [list({ minItems: 2 }), ['a']],
      [list({ maxItems: 1 }), ['a', 'b']],
      [list({ uniqueItems: true }), ['a', 'a']],
    ),
  'a secret consists of dots': () => errorsOf([secret(), '••••••••']),
  'a stored choice no longer exists': async () => {
    const config = { settings: { f0: 'gone' }, secrets: {} };
    const type = typeOf([text({ enum: ['a', 'b'] })]);
    const { form } = await openedForm({ existingId: 'con_1' }, { type, connector: { ...exampleConnector, config } });
    await form.save();
    return form.summary.map(({ message }) => message);
  },
  'a text does not match its pattern': () =>
    errorsOf([text({ pattern: '^a$' }), 'b'], [text({ pattern: '^a$', examples: ['a'] }), 'b']),
  'a number is not one, or out of range': () =>
    errorsOf(
      [{ type: 'number' }, 'many'],
      [{ type: 'integer' }, 1.5],
      [{ type: 'integer', minimum: 1, maximum: 9 }, 10],
      [{ type: 'integer', minimum: 1 }, 0],
      [{ type: 'integer', maximum: 9 }, 10],
    ),
  'a text does not have its format': () =>
    errorsOf(
      ...(
        [
          ['uri', 'ftp://acme.example'],
          ['uri', 'https://acme.example/a b'],
          ['uri', 'https://ada:secret@acme.example'],
          ['hostname', '-'],
          ['hostname', 'acme.example/path'],
          ['hostname', 'acme.example:443'],
          ['host-port', '-'],
          ['host-port', 'acme.example/path'],
          ['host-port', 'acme.example:99999'],
          ['email', 'ada'],
          ['date-time', '2026-11-12'],
          ['cron', 'daily'],
          ['cron', '60 * * * *'],
          ['cron', '0 24 * * *'],
          ['cron', '0 0 0 * *'],
          ['cron', '0 0 1 13 *'],
          ['cron', '0 0 1 1 8'],
          ['json', '{'],
          ['pem', 'MIIB'],
          ['pem', pem('CERTIFICATE').slice(0, 30)],
        ] as const
      ).map(([format, value]): Field => [text({ format }), value]),
    ),
  'something else is entered as a private key': () => {
    const key = secret({ format: 'pem', 'x-private-key': 'plain' });
    return errorsOf([key, pem('PUBLIC KEY')], [key, pem('CERTIFICATE')], [key, encryptedKey]);
  },
  'a failed connection test points at a field': async () => {
    const opened = await openedForm();
    fillIn(opened);
    const issues = [{ path: '/secrets/token', code: 'pattern', message: 'Rejected: test_failed' }];
    opened.service.next.push(errorResponse(400, 'test_failed', { issues }));
    await opened.form.test();
    return [opened.form.error('/secrets/token') ?? ''];
  },
  'a stored secret can no longer be decrypted': async () => {
    const { form, service } = await openedForm({ existingId: 'con_1' });
    form.setValue('/settings/page_size', 5);
    const issues = [{ path: '/secrets/token', code: 'required' }];
    service.next.push(errorResponse(422, 'secret_unreadable', { issues }));
    await form.save();
    return [form.error('/secrets/token') ?? ''];
  },
  'an account is being connected': async () => {
    const texts: string[] = [];
    const take = ({ action, note }: AccountOffer): number => texts.push(action, note);
    const outcomes = ['blocked', 'pending', 'closed', 'cancelled', 'failed', 'expired', 'unnamed'] as const;
    for (const outcome of outcomes) texts.push(...(await textsOfAccount(outcome)));
    const { form } = await openedForm({ existingId: 'con_1' }, { type: accountType, connector: endedConnector });
    const offer = form.account('/secrets/token');
    if (offer) take(offer);
    return texts;
  },
  'the form cannot be loaded': async () =>
    (
      await Promise.all([
        saidOnLoad({}, errorResponse(500, 'internal_error')),
        saidOnLoad({}, errorResponse(404, 'not_found')),
        // The connector is the second request.
        saidOnLoad({ existingId: 'x' }, Response.json(exampleType), errorResponse(404, 'not_found')),
        saidOnLoad({}, errorResponse(403, 'forbidden')),
        saidOnLoad({}, errorResponse(401, 'token_expired'), errorResponse(401, 'token_expired')),
      ])
    ).flat(),
  'the browser is offline': async () => {
    const opened = await openedForm({}, { online: () => false });
    fillIn(opened);
    opened.service.next.push(new TypeError('Failed to fetch'));
    await opened.form.test();
    return said(opened.form.state);
  },
  'a connection test fails, or cannot run': async () =>
    (
      await Promise.all([
        // Of another service, which gives no message.
        saidAfter('test', [Response.json({ error_type: 'test_failed' }, { status: 400 })]),
        saidAfter('test', [errorResponse(500, 'internal_error')]),
        saidAfter('test', [limited({ limit: 'test' })]),
        saidAfter('test', [limited({ limit: 'test_organization' })]),
        saidAfter('test', [limited({})]),
        saidAfter('test', lost),
      ])
    ).flat(),
  'a save fails': async () => {
    const edit = { existingId: 'con_1' };
    return (
      await Promise.all([
        saidAfter('save', [errorResponse(500, 'internal_error')]),
        saidAfter('save', [errorResponse(400, 'invalid_request')]),
        saidAfter('save', [errorResponse(412, 'precondition_failed')], edit),
      ])
    )
      .flat()
      .flatMap((message) => [message, message.replace('What you typed is still here. ', '')]);
  },
  'records are sent to the connector': async () => {
    const opened = await openedForm();
    fillIn(opened);
    opened.service.next.push(json({ ...exampleConnector, ingest: { url: 'https://service.test/ingest/1.x' } }));
    await opened.form.save();
    const { state } = opened.form;
    return state.phase === 'saved' && state.subject.address !== undefined ? [state.subject.address] : [];
  },
  'the service can save the type, but not run it': async () => {
    return Promise.all(['not_yet', 'agent', 'proprietary', 'withdrawn'].map(limitation));
  },
  'the page asked to save before the destination of a secret was visible': async () => {
    const { form } = await openedForm();
    form.reject('destination_not_seen');
    return said(form.state);
  },
  'the page names fields that the type does not have': async () => {
    const { warnings } = await openedForm({ configMetaOverrides: { settings: { nothing: { name: 'X' } } } });
    expect(warnings.join()).toContain('settings.nothing');
    return warnings.map((warning) => warning.replace(' settings.nothing', ''));
  },
  'the page asked to save while a secret is being typed': async () => {
    const { form, posted } = await openedForm();
    form.reject('command_while_typing');
    expect(said(form.state)).toEqual([]);
    return posted.flatMap((message) => (message.type === 'error' ? [message.message] : []));
  },
};

describe('the list of messages', () => {
  it('has a state for every message, and no other', () => {
    const listed = Object.values({ ...modelStates, ...pageStates }).flat();
    expect([...new Set<string>(listed)].toSorted()).toEqual(messageKeys(en).toSorted());
  });
});

it('has no longer text for a wrong private key than the one that space is reserved for', () => {
  const texts = Object.entries(en.issues).filter(([key]) => key.startsWith('format/private-key/'));
  const longest = JSON.stringify(en.issues['format/private-key/encrypted']).length;
  for (const [key, message] of texts) expect(JSON.stringify(message).length, key).toBeLessThanOrEqual(longest);
});

describe('a form in which', () => {
  it.each(Object.entries(drivers))('%s says so', async (state, drive) => {
    const messages = await drive();
    const expected: readonly string[] = Object.entries(modelStates).find(([name]) => name === state)?.[1] ?? [];
    for (const key of expected) expect(isSaid(messages, en, key), `${key}: ${messages.join(' | ')}`).toBe(true);
  });
});
