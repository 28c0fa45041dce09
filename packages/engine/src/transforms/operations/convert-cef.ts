import { parseKeyPath, valueAt } from '../../connector-api/key-path.js';
import { isRecord, type DataRecord, type JsonValue } from '../../connector-api/record.js';
import { cefFields, DEFAULT_HEADER, type CefOptions } from '../cef/cef-fields.js';
import { CEF_DIALECTS, parseCef } from '../cef/parse-cef.js';
import { withValue, withValues } from '../edit.js';
import { defineOperation } from '../operation-type.js';
import { TransformRejection } from '../transform-rejection.js';

const CONTINUATION_MODES = ['join', 'space', 'newline'] as const;
const JOINS = { join: '', space: ' ', newline: '\n' } as const;

export const convertCef = defineOperation({
  id: 'convert_cef',
  name: 'Convert CEF',
  description: 'Converts text in the Common Event Format to fields.',
  arguments: {
    key: { kind: 'key', description: 'Path of the text. Default: message.' },
    output_key: { kind: 'key', description: 'Path of the object for the fields. Absent: the record itself.' },
    output_mode: {
      kind: 'word',
      words: ['merge', 'replace'],
      default: 'merge',
      description: 'merge: the record keeps its other keys. replace: it has only the fields and those of envelope.',
    },
    envelope: { kind: 'map', description: 'For replace: keys of the result and the paths they are copied from.' },
    preset: {
      kind: 'word',
      words: ['none', 'full_names'],
      default: 'none',
      description: 'full_names: the full names of the CEF dictionary, such as sourceAddress for src.',
    },
    columns: { kind: 'map', description: 'New names of keys of the extension. Applied after preset.' },
    header_fields: {
      kind: 'texts',
      description: `Names of the header fields, in order; an empty name leaves one out. Default: ${DEFAULT_HEADER.join(', ')}.`,
    },
    numeric_columns: { kind: 'texts', description: 'Fields to convert to numbers.' },
    iso_date_columns: { kind: 'texts', description: 'Fields with times to convert to RFC 3339.' },
    resolve_labels: {
      kind: 'boolean',
      default: false,
      description: 'Names cs1 and other custom fields by their label: cs1Label=Rule cs1=7 becomes Rule: 7.',
    },
    empty_to_null: { kind: 'boolean', default: false, description: 'Empty values become null.' },
    strip_quotes: { kind: 'boolean', default: false, description: 'Removes double quotes around values.' },
    overflow_field: {
      kind: 'text',
      minLength: 1,
      description: 'Field for the keys that columns does not name. Absent: they keep their names.',
    },
    overflow_separator: {
      kind: 'text',
      maxLength: 10,
      default: '',
      description: 'Joins the keys in overflow_field as text: a=1;b=2. Empty: they are an object.',
    },
    dialect: {
      kind: 'word',
      words: CEF_DIALECTS,
      default: 'standard',
      description: 'unescaped: backslashes are no escapes.',
    },
    continuation_marker: { kind: 'text', maxLength: 100, default: '', description: 'Text at which lines were broken.' },
    continuation_mode: {
      kind: 'word',
      words: CONTINUATION_MODES,
      default: 'join',
      description: 'What replaces the marker: nothing, a space or a line break.',
    },
    strict: {
      kind: 'boolean',
      default: false,
      description:
        'Rejects a record whose text is no valid CEF. Otherwise it is unchanged, or converted as far as possible.',
    },
    warnings_key: { kind: 'key', description: 'Path for a list of what was wrong with the text.' },
  },
  check: ({ envelope, header_fields: header }, problems) => {
    const given = problems.at('arguments');
    for (const [name, path] of Object.entries(envelope ?? {}))
      if (!parseKeyPath(path)) given.at('envelope', name).add('required', 'It names a place in the record.');
    if (header && header.length > DEFAULT_HEADER.length)
      given.at('header_fields').add('too_many', `CEF has ${DEFAULT_HEADER.length} header fields.`);
  },
  compile: (values) => {
    const key = values.key ?? 'message';
    const path = parseKeyPath(key) ?? [key];
    const to = values.output_key === undefined ? [] : (parseKeyPath(values.output_key) ?? []);
    const warningsTo = values.warnings_key === undefined ? undefined : parseKeyPath(values.warnings_key);
    const envelope = Object.entries(values.envelope ?? {}).map(
      ([name, from]) => [name, parseKeyPath(from) ?? []] as const,
    );
    const options: CefOptions = {
      preset: values.preset,
      columns: new Map(Object.entries(values.columns ?? {})),
      header: values.header_fields ?? DEFAULT_HEADER,
      numeric: new Set(values.numeric_columns),
      dates: new Set(values.iso_date_columns),
      resolveLabels: values.resolve_labels,
      emptyToNull: values.empty_to_null,
      stripQuotes: values.strip_quotes,
      overflowField: values.overflow_field,
      overflowSeparator: values.overflow_separator,
    };
    return (record, { now }) => {
      const value = valueAt(record, path);
      if (value === undefined && !values.strict) return record;
      const text = typeof value === 'string' ? rejoin(value, values.continuation_marker, values.continuation_mode) : '';
      const parsed = parseCef(text, values.dialect);
      const warnings = [...(parsed?.warnings ?? ['The text is no CEF.'])];
      const fields = parsed ? cefFields(parsed, options, now, warnings) : undefined;
      if (values.strict && warnings.length > 0)
        throw new TransformRejection('not_convertible', `The value of ${key} is no valid CEF. ${warnings[0] ?? ''}`);
      const converted = fields ? put(record, fields, values.output_mode) : record;
      return warningsTo && warnings.length > 0 ? withValue(converted, warningsTo, warnings) : converted;
    };

    function put(record: DataRecord, fields: ReadonlyMap<string, JsonValue>, mode: string): DataRecord {
      if (mode === 'merge') return withValues(record, holderOf(record), fields);
      const kept = new Map(envelope.map(([name, from]) => [name, valueAt(record, from)]));
      return withValues(withValues({}, [], kept), to, fields);
    }

    function holderOf(record: DataRecord) {
      const current = to.length === 0 ? undefined : valueAt(record, to);
      if (current !== undefined && current !== null && !isRecord(current))
        throw new TransformRejection('not_an_object', `The value of ${to.join('.')} is no object.`);
      return to;
    }
  },
});

const rejoin = (text: string, marker: string, mode: keyof typeof JOINS): string =>
  marker === '' ? text : text.replaceAll(marker, () => JOINS[mode]);
