import { exampleConfig, loadCatalog, type ConnectorTypeData } from '@connector-frame/catalog';
import { expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import {
  type DataRecord,
  type Input,
  isRecord,
  type JsonValue,
  systemClock,
} from '@connector-frame/engine/connector-api';
import { parseTime } from '../_shared/poll/times.js';
import { longOr } from '../../../../test/support/long.js';
import { connectors, createInputOf } from '../index.js';
import { shapeOf } from './shape-of.js';
import { compileShape } from './template.js';

const AT = Date.UTC(2026, 2, 18, 12, 34, 56, 789);
const inputs = loadCatalog().list('input');
const demoShapes = [
  'okta-systemlog',
  'github-audit-logs',
  'cloudtrail',
  'syslog',
  'ocsf',
  'crowdstrike_vulnerabilities',
];

function recordsOf(type: Parameters<typeof shapeOf>[0], count = longOr(200, 40)): DataRecord[] {
  const shape = shapeOf(type);
  return Array.from({ length: count }, (_, number) => shape(number, AT));
}

function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((child) => textsIn(child)) : [];
}

test.each(inputs.map((type) => [type.type_id, type] as const))(
  '%s: marked, complete, repeatable and fictitious',
  (_id, type) => {
    const records = recordsOf(type);
    expect(recordsOf(type)).toEqual(records);
    expect(records.every((record) => record['synthetic'] === true)).toBe(true);
    expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(records.length);
    expect(JSON.parse(JSON.stringify(records))).toEqual(records);
    const texts = records.flatMap((record) => textsIn(record));
    // Every placeholder was replaced.
    expect(texts.filter((text) => /\{[a-z][\w.]*(:|#|\})/.test(text))).toEqual([]);
    const addresses = texts
      .filter((text) => !text.includes('Mozilla'))
      .flatMap((text) => text.match(/(?<![\d.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])/g) ?? []);
    expect(addresses.filter((address) => !/^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+$/.test(address))).toEqual([]);
    const hosts = texts.flatMap((text) => [...text.matchAll(/@([\w.-]+\.[a-z]+)/g)].map(([, host = '']) => host));
    expect(hosts.filter((host) => !/(^|\.)example\.com$/.test(host))).toEqual([]);
  },
);

test("a type without its own shape uses its category's, with its vendor", () => {
  const type = { type_id: 'new-one', name: 'New One', vendor: 'Acme' };
  const categories = [...new Set(inputs.map(({ category }) => category)), 'Network Security', 'Something else'];
  for (const category of categories)
    expect(recordsOf({ ...type, category }, 1)[0]).toMatchObject({
      vendor: 'Acme',
      product: 'New One',
      synthetic: true,
    });
  const keys = (category: string) => Object.keys(recordsOf({ ...type, category }, 1)[0] ?? {});
  expect(keys('Vulnerability Management')).toContain('cve');
  expect(keys('Network Security')).toContain('destination');
  expect(keys('Asset Inventory')).toContain('mac_addresses');
  expect(keys('Endpoint Security')).toContain('severity');
});

const polled = inputs.flatMap((type) => {
  const records = type.poll?.streams[0]?.records;
  return records ? [[type.type_id, type, records] as const] : [];
});

test.each(polled)("%s: has its id and time in the vendor's fields", (_id, type, { id, time, time_form: form }) => {
  for (const record of recordsOf(type, 20)) {
    for (const pointer of [id ?? []].flat()) expect(at(record, pointer)).toEqual(expect.anything());
    if (time === undefined) continue;
    const value = [time]
      .flat()
      .map((path) => at(record, path))
      .find((each) => each !== undefined);
    const read = parseTime(value, form) ?? Number.NaN;
    const isDay = form === 'date' || (form?.includes('%') === true && !/%[HI]/.test(form));
    expect(Math.abs(read - AT)).toBeLessThan(isDay ? 86_400_000 : 2_000);
  }
});

function at(record: DataRecord, pointer: string): unknown {
  let value: JsonValue | undefined = record;
  for (const key of pointer.split('/').slice(1)) value = isRecord(value) ? value[key] : undefined;
  return value;
}

test('a placeholder has one value per record; numbered ones differ', () => {
  const shape = compileShape({
    documentation: '',
    choices: { pair: [{ a: 1, deep: { b: [true, '{ip}'] } }] },
    record: {
      a: '{ip}',
      b: 'from {ip}',
      c: '{ip#2}',
      n: '{pair.a}',
      list: '{pair.deep.b}',
      none: '{pair.absent}',
      plain: '{ not a word }',
    },
  });
  const record = shape(7, AT);
  expect(record).toMatchObject({
    b: `from ${textsIn(record['a']).join('')}`,
    n: 1,
    list: [true, record['a']],
    none: null,
    plain: '{ not a word }',
  });
  expect(record['c']).not.toBe(record['a']);
  expect(() => compileShape({ documentation: '', record: { a: '{nonsense:1}' } })).toThrow('nonsense');
});

const context = (type: ConnectorTypeData) => ({ type, egress: createEgress({ allow: [] }), clock: systemClock });

async function firstPage(input: Input | undefined): Promise<readonly DataRecord[]> {
  if (input?.kind !== 'pages') throw new Error('It has no pages.');
  for await (const page of input.pages(undefined, new AbortController().signal)) return page.records;
  return [];
}

test('every type with the synthetic switch generates records when it is on', async () => {
  const switched = inputs.filter(({ config }) => 'use_synthetic_data' in config.settings.properties);
  expect(switched.length).toBeGreaterThan(15);
  for (const type of switched) {
    const config = exampleConfig(type.config, { optional: true });
    const input = createInputOf(
      type,
      { ...config, settings: { ...config.settings, use_synthetic_data: true } },
      context(type),
    );
    expect((await firstPage(input))[0]).toMatchObject({ synthetic: true });
    if (connectors(type).createInput) continue;
    const off = { ...config, settings: { ...config.settings, use_synthetic_data: false } };
    expect(createInputOf(type, off, context(type))).toBeUndefined();
  }
});

test.each(demoShapes)('the demo input generates %s records at the configured rate', async (record_type) => {
  const type = inputs.find(({ type_id: id }) => id === 'demo');
  if (!type) throw new Error('The catalog has no demo input.');
  const input = createInputOf(type, { settings: { record_type, rate: 1_000 }, secrets: {} }, context(type));
  const records = await firstPage(input);
  expect(records).toHaveLength(100);
  expect(records[0]).toMatchObject({ synthetic: true });
  expect(Object.keys(records[0] ?? {})).toContain(
    {
      'okta-systemlog': 'eventType',
      'github-audit-logs': '_document_id',
      cloudtrail: 'eventSource',
      syslog: 'hostname',
      ocsf: 'class_uid',
      crowdstrike_vulnerabilities: 'vulnerability_id',
    }[record_type],
  );
});

test('a demo input reports missing fields', () => {
  const type = inputs.find(({ type_id: id }) => id === 'demo');
  if (!type) throw new Error('The catalog has no demo input.');
  expect(() => createInputOf(type, { settings: {}, secrets: {} }, context(type))).toThrow(
    'Select a record type and a rate',
  );
});
