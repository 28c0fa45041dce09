import { CONNECTOR_KINDS, exampleConfig, loadCatalog } from '@connector-frame/catalog';
import { getAt, pruneConfig, withDefaults } from '@connector-frame/catalog/validate';
import { describe, expect, it } from 'vitest';
import en from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { changesOf } from './connector-write.js';
import { createEditor, type Editor } from './editor.js';
import type { Draft } from './draft.js';
import { createSubscriptions } from './subscriptions.js';
import { subjectOf } from './subject-of.js';
import { walkFields } from './walk-fields.js';
import type { Connector, ConnectorType } from './wire.js';

const messages = createMessages(en);
const catalog = loadCatalog();
const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind));

describe.each(types.map((type) => [`${type.kind} ${type.type_id}`, type] as const))('%s', (_, data) => {
  const type: ConnectorType = { ...data, icon: null, supported_features: { test_connection: false } };
  const warnings: string[] = [];
  const subject = subjectOf(
    {
      source: 'monad-embed',
      type: 'init',
      version: 1,
      sessionToken: 't',
      apiBase: 'b',
      organizationId: 'o',
      typeId: data.type_id,
      kind: data.kind,
    },
    type,
    undefined,
    messages,
    (message) => warnings.push(message),
  );
  const open = (saved?: Connector): Editor =>
    createEditor({
      type,
      subject,
      saved,
      organization: 'Acme',
      details: { name: saved?.name ?? '', description: '' },
      messages,
      subscriptions: createSubscriptions(),
      onEdit: () => undefined,
    });
  const editor = open();
  const fields = [...subject.fields, ...subject.advanced];
  const draft: Draft = { name: '', description: '', settings: {}, secrets: {} };

  it('has one field with a label for each setting and secret', () => {
    const paths = [...walkFields(fields, draft, true)].map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    const { settings, secrets } = data.config;
    for (const [section, { properties }] of Object.entries({ settings, secrets }))
      for (const [key, schema] of Object.entries(properties))
        if (schema['x-role'] !== 'synthetic-toggle') expect(paths).toContain(`/${section}/${key}`);
    for (const { field } of walkFields(fields, draft, true)) expect(field.label, field.path).toMatch(/\S/);
    expect(warnings).toEqual([]);
  });

  it('reports missing values on visible fields, as complete sentences', () => {
    editor.check();
    for (const { path, label, message } of editor.summary()) {
      expect(editor.fields.shown(path), path).toBe(true);
      expect(label).toMatch(/\S/);
      expect(message, path).toMatch(/^\p{Lu}[^{}]+$/u);
    }
  });

  it.each([true, false])('sends no change for an unedited connector (with optional fields: %j)', (optional) => {
    const { settings, secrets } = exampleConfig(data.config, { optional });
    const kept = Object.keys(secrets).map((key) => [key, { id: key, updated_at: '2026-01-01T00:00:00Z' }] as const);
    const saved: Connector = {
      id: 'con_1',
      name: 'Saved',
      description: '',
      type: data.type_id,
      created_at: '2026-01-01T00:00:00Z',
      version: 1,
      config: { settings, secrets: Object.fromEntries(kept) },
    };
    const editing = open(saved);
    expect(editing.isDirty()).toBe(false);
    expect([editing.check(), editing.summary()]).toEqual([true, []]);
    const shown = withDefaults(data.config, { settings, secrets });
    expect(editing.content().config).toEqual({ ...pruneConfig(data.config, shown), secrets: {} });
    expect(changesOf(editing.content(), saved, type)).toBeUndefined();
  });

  it('stores a value at each of its paths', () => {
    for (const { field, path } of walkFields(fields, draft, true)) {
      if (field.kind === 'group' || field.kind === 'variants') continue;
      editor.fields.setValue(path, 'x');
      expect(editor.fields.value(path), path).toBe('x');
    }
    expect(getAt(editor.content(), '/config/settings')).toBeDefined();
  });
});
