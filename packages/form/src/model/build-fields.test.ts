import { describe, expect, it } from 'vitest';
import { exampleType } from '../testing/example-type.js';
import type { ConfigMetaOverrides } from '@connector-frame/core/protocol';
import { buildFields } from './build-fields.js';
import type { Field } from './field.js';

function build({ overrides, synthetic }: { overrides?: ConfigMetaOverrides; synthetic?: boolean } = {}) {
  const warnings: string[] = [];
  const { fields, advanced } = buildFields(exampleType, overrides, synthetic, (message) => warnings.push(message));
  const find = (path: string, among: readonly Field[] = [...fields, ...advanced]): Field | undefined =>
    among
      .flatMap((field): Field[] => [
        field,
        ...(field.kind === 'group' ? field.fields : []),
        ...(field.kind === 'variants' ? field.variants.flatMap((variant) => variant.fields) : []),
      ])
      .find((field) => field.path === path);
  return { fields, advanced, warnings, find };
}

describe('buildFields', () => {
  it('sorts fields by `order`, then required settings, secrets and optional settings; advanced ones are separate', () => {
    const { fields, advanced } = build();
    expect(fields.map(({ path }) => path)).toEqual([
      '/settings/org_url',
      '/settings/auth',
      '/settings/since',
      '/settings/regions',
      '/secrets/token',
      '/secrets/signing_key',
      '/secrets/extra',
      '/settings/start',
      '/settings/filters',
      '/settings/headers',
      '/settings/proxy',
    ]);
    expect(advanced.map(({ path }) => path)).toEqual(['/settings/page_size']);
  });

  it('reads texts and constraints from the schema', () => {
    const { find } = build();
    expect(find('/settings/org_url')).toMatchObject({
      kind: 'text',
      format: 'uri',
      label: 'Organization URL',
      help: 'The address you sign in at.',
      placeholder: 'https://acme.okta.com',
      required: true,
      destination: true,
    });
    expect(find('/settings/page_size')).toMatchObject({ kind: 'number', integer: true, minimum: 1, maximum: 1000 });
    expect(find('/settings/start')).toMatchObject({
      kind: 'enum',
      options: [
        { value: 'now', label: 'Now' },
        { value: 'all', label: 'all' },
      ],
    });
    expect(find('/settings/regions')).toMatchObject({ kind: 'string-list', minItems: 1, item: { path: '' } });
    expect(find('/settings/filters')).toMatchObject({
      kind: 'object-list',
      columns: [{ path: '/field' }, { path: '/limit' }],
    });
    expect(find('/settings/auth')).toMatchObject({
      kind: 'variants',
      discriminator: 'type',
      variants: [
        { value: 'token', label: 'API token', fields: [] },
        { value: 'oauth', label: 'OAuth service app' },
      ],
    });
    expect(find('/settings/auth/oauth/client_id')).toMatchObject({ kind: 'text', required: true });
    expect(find('/secrets/token')).toMatchObject({ kind: 'secret', shape: 'line', required: true });
    expect(find('/secrets/extra')).toMatchObject({ kind: 'secret', shape: 'map', required: false });
  });

  it('includes the synthetic toggle only if the host asks for it', () => {
    expect(build().find('/settings/synthetic')).toBeUndefined();
    expect(build({ synthetic: true }).find('/settings/synthetic')).toMatchObject({ kind: 'boolean' });
  });

  it("applies the host's texts at any depth", () => {
    const { find, warnings } = build({
      overrides: {
        settings: {
          org_url: { name: '', description: '', placeholder: '' },
          filters: { children: { field: { name: 'Column' } } },
          proxy: { children: { host: { placeholder: 'proxy.acme.example' } } },
          auth: {
            name: 'Sign-in',
            discriminator: { one_of: { oauth: { name: 'Service app', children: { client_id: { name: 'App ID' } } } } },
          },
        },
        secrets: { token: { name: 'Key', description: 'Ask your admin.' } },
      },
    });
    const url = find('/settings/org_url');
    expect(url).toMatchObject({ label: 'Organization URL' });
    expect(url).not.toHaveProperty('help');
    expect(url).not.toHaveProperty('placeholder');
    expect(find('/settings/filters')).toMatchObject({ columns: [{ label: 'Column' }, { label: 'Limit' }] });
    expect(find('/settings/proxy/host')).toMatchObject({ placeholder: 'proxy.acme.example' });
    expect(find('/settings/auth')).toMatchObject({ label: 'Sign-in', variants: [{}, { label: 'Service app' }] });
    expect(find('/settings/auth/oauth/client_id')).toMatchObject({ label: 'App ID' });
    expect(find('/secrets/token')).toMatchObject({ kind: 'secret', label: 'Key', help: 'Ask your admin.' });
    expect(warnings).toEqual([]);
  });

  it('reports all unknown keys in one warning and ignores them', () => {
    const { fields, warnings } = build({
      overrides: {
        settings: {
          orgUrl: { name: 'x' },
          org_url: { children: { host: { name: 'x' } } },
          auth: { discriminator: { one_of: { saml: { name: 'x' }, oauth: { children: { secret: {} } } } } },
        },
        secrets: { password: {} },
      },
    });
    expect(fields.length).toBeGreaterThan(5);
    expect(warnings).toHaveLength(1);
    for (const key of [
      'settings.orgUrl',
      'settings.org_url.host',
      'settings.auth.saml',
      'settings.auth.oauth.secret',
      'secrets.password',
    ])
      expect(warnings[0]).toContain(key);
  });

  it('ignores keys of prototypes and changes no prototype', () => {
    const settings = JSON.parse('{"__proto__":{"name":"x"},"constructor":{"name":"x"},"toString":{"name":"x"}}');
    const { find, warnings } = build({ overrides: { settings } });
    expect(find('/settings/org_url')).toMatchObject({ label: 'Organization URL' });
    expect(warnings).toHaveLength(1);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}).not.toHaveProperty('name');
  });

  it('a renamed secret stays a secret', () => {
    const { find } = build({
      overrides: { settings: { token: { name: 'User name' } }, secrets: { token: { name: 'User name' } } },
    });
    expect(find('/secrets/token')).toMatchObject({ kind: 'secret' });
    expect(find('/settings/token')).toBeUndefined();
  });
});
