import { describe, expect, it } from 'vitest';
import type { ConnectorConfig, ConnectorConfigSchema, Issue } from '../types.js';
import { validateField } from '../validate.js';
import { good, schema } from './fixture.js';
import { setAt } from './pointer.js';
import { validateConfig } from './validate-config.js';

const told = (issues: Issue[]): string[] => issues.map(({ path, code }) => `${path} ${code}`);
const hostile = (json: string): ConnectorConfig => JSON.parse(json);

describe('validateConfig', () => {
  it('returns no issues for a valid configuration', () => {
    expect(validateConfig(schema, good)).toEqual([]);
  });

  it('reports required fields that are missing, including those of the selected choice', () => {
    const empty = { settings: { auth: { type: 'key' } }, secrets: {} };
    expect(told(validateConfig(schema, empty))).toEqual([
      '/settings/url required',
      '/settings/mode required',
      '/settings/auth/key_body/host required',
      '/secrets/token required',
    ]);
  });

  it.each<[path: string, value: unknown, issues: string[]]>([
    ['/settings/url', '  ', ['/settings/url required']],
    ['/settings/url', 7, ['/settings/url type']],
    ['/settings/url', 'https://acme.example/x', ['/settings/url pattern']],
    ['/settings/url', 'https://a b', ['/settings/url format']],
    ['/settings/url', `https://${'a'.repeat(70_000)}`, ['/settings/url max_length']],
    ['/settings/note', 'ab', ['/settings/note min_length']],
    ['/settings/note', 'a'.repeat(21), ['/settings/note max_length']],
    ['/settings/mode', 'slow', ['/settings/mode enum']],
    ['/settings/retries', 1.5, ['/settings/retries type']],
    ['/settings/retries', '3', ['/settings/retries type']],
    ['/settings/retries', -1, ['/settings/retries minimum']],
    ['/settings/retries', 11, ['/settings/retries maximum']],
    ['/settings/retries', 0, []],
    ['/settings/ratio', Number.NaN, ['/settings/ratio type']],
    ['/settings/ratio', Infinity, ['/settings/ratio type']],
    ['/settings/ratio', 0.5, []],
    ['/settings/verbose', 'true', ['/settings/verbose type']],
    ['/settings/verbose', false, []],
    ['/settings/topics', 'a', ['/settings/topics type']],
    ['/settings/topics', ['a', 'b', 'c', 'd'], ['/settings/topics max_items']],
    ['/settings/topics', ['a', 'a'], ['/settings/topics/1 unique_items']],
    ['/settings/topics', ['a', 7, 'toolong'], ['/settings/topics/1 type', '/settings/topics/2 max_length']],
    ['/settings/topics', ['', 'a', ''], []],
    ['/settings/topics', [''], []],
    ['/settings/headers', [{ name: 'x' }, {}, { value: 'y' }], ['/settings/headers/2/name required']],
    ['/settings/headers', [{ name: 'x', other: 1 }], ['/settings/headers/0/other unknown_property']],
    ['/settings/headers', ['x'], ['/settings/headers/0 type']],
    ['/settings/headers', Array.from({ length: 1001 }, () => ({ name: 'x' })), ['/settings/headers max_items']],
    ['/settings/rate', undefined, []],
    ['/settings/rate', { amount: undefined, per: '' }, []],
    ['/settings/rate', { per: 'hour' }, ['/settings/rate/amount required']],
    ['/settings/rate', [], []],
    ['/settings/rate', [1], ['/settings/rate type']],
    ['/settings/labels', { a: 'b', c: 'toolong' }, ['/settings/labels/c max_length']],
    ['/settings/labels', { a: 'b', c: '' }, ['/settings/labels/c required']],
    ['/settings/labels', { a: '1', b: '2', c: '3' }, ['/settings/labels max_items']],
    ['/settings/labels', { a: 1 }, ['/settings/labels/a type']],
    ['/settings/labels', { '': 'x' }, ['/settings/labels/ unknown_property']],
    ['/settings/auth', undefined, ['/settings/auth required']],
    ['/settings/auth', 'key', ['/settings/auth type']],
    ['/settings/auth', { type: 'other' }, ['/settings/auth/type enum']],
    ['/settings/auth', { type: 7 }, ['/settings/auth/type enum']],
    ['/settings/auth', { key_body: { host: 'x' } }, ['/settings/auth required']],
    ['/settings/auth', { type: 'none', key_body: { host: 7 } }, []],
    ['/settings/auth', { type: 'none', more: 1 }, ['/settings/auth/more unknown_property']],
    ['/settings/auth', { type: 'key', key_body: 'x' }, ['/settings/auth/key_body type']],
    ['/settings/auth/key_body/host', 'https://x', ['/settings/auth/key_body/host format']],
    ['/settings/schedule', 'not shown, so not looked at', []],
    ['/settings/extra', 1, ['/settings/extra unknown_property']],
    ['/secrets/token', '', ['/secrets/token required']],
    ['/secrets/token', '••••••••', ['/secrets/token masked']],
    ['/secrets/token', '****', ['/secrets/token masked']],
    ['/secrets/token', '***', ['/secrets/token min_length']],
    ['/secrets/token', { value: 'x' }, ['/secrets/token type']],
    ['/secrets/headers', { Authorization: '••••' }, ['/secrets/headers/Authorization masked']],
    ['/secrets/cert', 'x', ['/secrets/cert format']],
    ['/secrets', ['x'], ['/secrets type']],
    ['/settings', 'x', ['/settings type']],
  ])('%s, case %#', (path, value, issues) => {
    expect(told(validateConfig(schema, setAt(good, path, value)))).toEqual(issues);
  });

  it('reports the limit, the format found and the message of the type, but never the value', () => {
    expect(validateConfig(schema, setAt(good, '/settings/retries', -1))).toEqual([
      { path: '/settings/retries', code: 'minimum', params: { minimum: 0 } },
    ]);
    expect(validateConfig(schema, setAt(good, '/settings/auth/key_body/host', 'https://canary'))).toEqual([
      { path: '/settings/auth/key_body/host', code: 'format', params: { format: 'hostname', found: 'url' } },
    ]);
    expect(validateConfig(schema, setAt(good, '/settings/url', 'https://canary/x'))).toEqual([
      { path: '/settings/url', code: 'pattern', message: 'No path.' },
    ]);
  });

  it('treats a secret that the service keeps as present', () => {
    const config = setAt(good, '/secrets/token', undefined);
    expect(told(validateConfig(schema, config))).toEqual(['/secrets/token required']);
    expect(validateConfig(schema, config, { kept: new Set(['token']) })).toEqual([]);
  });

  it('checks a conditional field only while it is shown', () => {
    expect(told(validateConfig(schema, setAt(good, '/settings/mode', 'safe')))).toEqual([
      '/settings/schedule required',
    ]);
    const chained = setAt(setAt(good, '/settings/schedule', '* * * * *'), '/settings/window', 'wrong');
    expect(validateConfig(schema, chained)).toEqual([]);
    expect(told(validateConfig(schema, setAt(chained, '/settings/mode', 'safe')))).toEqual(['/settings/window type']);
  });

  it('rejects prototype keys as unknown and does not read them', () => {
    const config = hostile(
      '{"settings":{"__proto__":{"url":"https://x.example"},"constructor":1,"labels":{"__proto__":"x"}},"secrets":{}}',
    );
    expect(told(validateConfig(schema, config))).toEqual([
      '/settings/__proto__ unknown_property',
      '/settings/constructor unknown_property',
      '/settings/url required',
      '/settings/mode required',
      '/settings/labels/__proto__ unknown_property',
      '/settings/auth required',
      '/secrets/token required',
    ]);
  });

  it('returns at most 100 issues', () => {
    const settings = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`x${String(index)}`, 1]));
    expect(validateConfig(schema, { settings, secrets: {} })).toHaveLength(100);
  });

  it('rejects values that are nested too deep', () => {
    let nested: typeof schema.settings = {
      type: 'object',
      properties: { a: { type: 'string' } },
      additionalProperties: false,
    };
    let value: Record<string, unknown> = { a: 'x' };
    for (let depth = 0; depth < 8; depth++) {
      nested = { type: 'object', properties: { a: nested }, additionalProperties: false };
      value = { a: value };
    }
    const issues = validateConfig({ ...schema, settings: nested }, { settings: value, secrets: good.secrets });
    expect(told(issues)).toEqual([`/settings${'/a'.repeat(9)} too_deep`]);
  });
});

describe('validateField', () => {
  const bad = { settings: { ...good.settings, labels: { a: 'toolong' }, topics: [7] }, secrets: {} };

  it('returns the issues at a pointer and below it', () => {
    expect(told(validateField(schema, bad, '/settings/labels'))).toEqual(['/settings/labels/a max_length']);
    expect(told(validateField(schema, bad, '/settings/topics/0'))).toEqual(['/settings/topics/0 type']);
    expect(validateField(schema, bad, '/settings/label')).toEqual([]);
  });
});

describe('a map', () => {
  const map = { type: 'object', additionalProperties: { type: 'string' } } as const;
  const schema: ConnectorConfigSchema = {
    settings: { type: 'object', properties: { headers: map }, additionalProperties: false },
    secrets: { type: 'object', properties: { extra: { ...map, writeOnly: true } }, additionalProperties: false },
  };

  it('has a value for each name, even if none has one', () => {
    const issues = validateConfig(schema, { settings: { headers: { 'X-A': '' } }, secrets: { extra: { 'X-B': ' ' } } });
    expect(told(issues)).toEqual(['/settings/headers/X-A required', '/secrets/extra/X-B required']);
    expect(validateConfig(schema, { settings: { headers: {} }, secrets: {} })).toEqual([]);
  });

  it('may be kept without its values', () => {
    expect(validateConfig(schema, { settings: {}, secrets: {} }, { kept: new Set(['extra']) })).toEqual([]);
  });
});
