/**
 * Checks texts across the whole catalog: consistency between types, which no single-file check can
 * see, and texts without information.
 */
import { describe, expect, it } from 'vitest';
import { fieldsOf } from './build/walk.js';
import { CONNECTOR_KINDS } from './connector-kinds.js';
import { loadCatalog } from './load-catalog.js';
import type { ConnectorTypeData } from './types.js';
import { isUnion } from './validate.js';

const types = CONNECTOR_KINDS.flatMap((kind) => loadCatalog().list(kind));
const words = types.flatMap((type) =>
  fieldsOf(type).map(({ path, field, inRow }) => ({
    at: `${type.kind} ${type.type_id} ${path}`,
    type,
    key: path.slice(path.lastIndexOf('/') + 1),
    inRow,
    title: field.title ?? '',
    help: field.description ?? '',
    examples: field.examples ?? [],
  })),
);

const bare = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

const kinds = (type: ConnectorTypeData, text: string): string => `${type.kind} ${bare(text)}`;
const singular = (type: ConnectorTypeData): string => kinds(type, type.name.replaceAll(/s\b/gi, ''));

/** Returns the values of each key that has more than one distinct value. */
function several<T>(all: readonly T[], key: (each: T) => string, value: (each: T) => string): string[] {
  const found = new Map<string, Set<string>>();
  for (const each of all) found.set(key(each), (found.get(key(each)) ?? new Set()).add(value(each)));
  return [...found.values()].filter(({ size }) => size > 1).map((values) => [...values].join(' / '));
}

describe('labels', () => {
  it('are present, have no underscore and differ from the key', () => {
    const raw = words.filter(
      ({ title, key, inRow }) => !inRow && (/^$|_/.test(title) || (title === key && /[a-z]/.test(key))),
    );
    expect(raw.map(({ at, title }) => `${at}: ${title}`)).toEqual([]);
  });

  it('are the same for fields that share a common help text', () => {
    // Help that names a location ("Settings → API keys") may apply to several different values.
    const told = words.filter(({ help }) => help !== '' && !help.includes('→'));
    const count = new Map<string, number>();
    for (const { help } of told) count.set(help, (count.get(help) ?? 0) + 1);
    const common = told.filter(({ help }) => (count.get(help) ?? 0) > 3);
    expect(
      several(
        common,
        ({ help }) => help,
        ({ title, help }) => `${title}: ${help}`,
      ),
    ).toEqual([]);
  });
});

describe('help', () => {
  it('has at least ten letters and does not repeat the label', () => {
    const idle = words.filter(({ title, help }) => {
      const said = bare(help.replace(/^(?:enter |paste )?(?:the|your|an?) /i, ''));
      return help !== '' && (help.replaceAll(/\P{L}/gu, '').length < 10 || said === bare(title));
    });
    expect(idle.map(({ at, help }) => `${at}: ${help}`)).toEqual([]);
  });

  it('explains when secrets can be omitted if none is required', () => {
    const silent = types.filter(({ config }) => {
      const secrets = Object.values(config.secrets.properties);
      const isFree =
        secrets.length > 0 && !config.secrets.required?.length && !secrets.some((secret) => secret['x-when']);
      const others = Object.values(config.settings.properties).map(({ description = '' }) => description);
      const told = [...secrets.map(({ description = '' }) => description), ...others];
      return isFree && !told.some((text) => /\b(?:leave|only|instead|unless|without|when|if)\b/i.test(text));
    });
    expect(silent.map(({ kind, type_id }) => `${kind} ${type_id}`)).toEqual([]);
  });
});

it('examples are not placeholders', () => {
  const empty = /^(?:\?+|x{3,}|example|string|text|value|foo|bar|test|todo|n\/a|\.{3,}|change_?me)$|\byour[-_ ]|^</i;
  const idle = words.filter(({ examples }) => examples.some((each) => empty.test(each)));
  expect(idle.map(({ at, examples }) => `${at}: ${examples.join(', ')}`)).toEqual([]);
});

describe('types', () => {
  it('of the same kind have names that differ in more than plurals and punctuation', () => {
    expect(several(types, singular, ({ kind, type_id }) => `${kind} ${type_id}`)).toEqual([]);
  });

  it('of the same kind have different descriptions', () => {
    expect(
      several(
        types,
        (type) => kinds(type, type.description),
        ({ kind, type_id }) => `${kind} ${type_id}`,
      ),
    ).toEqual([]);
  });

  it('use one spelling and one icon per vendor', () => {
    expect(
      several(
        types,
        ({ vendor }) => bare(vendor),
        ({ vendor }) => vendor,
      ),
    ).toEqual([]);
    expect(
      several(
        types,
        ({ vendor }) => vendor,
        ({ vendor, icon }) => `${vendor}: ${icon ?? 'no icon'}`,
      ),
    ).toEqual([]);
  });

  it('with secrets have a destination field or a fixed destination', () => {
    const lost = types.filter((type) => {
      const hasSecrets = Object.keys(type.config.secrets.properties).length > 0;
      const decides = fieldsOf(type).some(({ field }) => field['x-destination']);
      return hasSecrets && !decides && type.fixed_destination === undefined;
    });
    expect(lost.map(({ kind, type_id }) => `${kind} ${type_id}`)).toEqual([]);
  });

  it('use a different label for each choice of a field', () => {
    const alike = types.flatMap((type) =>
      fieldsOf(type).flatMap(({ path, field }) => {
        const labels = isUnion(field)
          ? field.oneOf.map(({ title }) => title)
          : 'enum' in field
            ? (field.enum ?? []).map((value) => field['x-labels']?.[value] ?? value)
            : [];
        return new Set(labels.map(bare)).size < labels.length ? [`${type.kind} ${type.type_id} ${path}`] : [];
      }),
    );
    expect(alike).toEqual([]);
  });
});

it('labels of unconditional top-level fields are unique in a form', () => {
  const twice = types.flatMap((type) => {
    const { settings, secrets } = type.config;
    const titles = [...Object.values(settings.properties), ...Object.values(secrets.properties)]
      .filter((field) => !field['x-when'])
      .map(({ title = '' }) => title);
    const again = titles.filter((title, index) => titles.indexOf(title) < index);
    return again.map((title) => `${type.kind} ${type.type_id}: ${title}`);
  });
  expect(twice).toEqual([]);
});
