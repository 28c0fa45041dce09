import { parseKeyPath, valueAt, type KeyPath } from '../../connector-api/key-path.js';
import type { DataRecord, JsonValue } from '../../connector-api/record.js';
import { withoutValue, withValue } from '../edit.js';
import { isSameValue } from '../is-same-value.js';
import type { Transform } from '../operation.js';
import { defineOperation } from '../operation-type.js';

/** Operations that set, move and remove keys. A record that lacks the key is unchanged. */

const pathOf = (key: string): KeyPath => parseKeyPath(key) ?? [key];

const KEY = { kind: 'key', required: true, description: 'Path of the key, such as actor.email.' } as const;
const NEW_KEY = { kind: 'key', required: true, description: 'Path of the new key.' } as const;
const VALUE = { kind: 'value', required: true, description: 'A JSON value; null is one.' } as const;
const EXPECTED = {
  kind: 'value',
  required: true,
  description: 'The value to compare with. Numbers and booleans equal their string form.',
} as const;

/** Applies a change to the records in which `key` has a value that equals `expected`. */
function where(key: string, expected: JsonValue, change: Transform): Transform {
  const path = pathOf(key);
  return (record, context) => {
    const value = valueAt(record, path);
    return value !== undefined && isSameValue(value, expected) ? change(record, context) : record;
  };
}

function rename(from: KeyPath, to: KeyPath): (record: DataRecord) => DataRecord {
  if (from.join('\0') === to.join('\0')) return (record) => record;
  return (record) => {
    const value = valueAt(record, from);
    return value === undefined ? record : withValue(withoutValue(record, from), to, value);
  };
}

const add = defineOperation({
  id: 'add',
  name: 'Add',
  description: 'Sets a value at a key and replaces any value there.',
  arguments: { key: KEY, value: VALUE },
  compile: ({ key, value }) => {
    const path = pathOf(key);
    return (record) => withValue(record, path, value);
  },
});

const dropKey = defineOperation({
  id: 'drop_key',
  aliases: ['drop'],
  name: 'Drop key',
  description: 'Removes a key.',
  arguments: { key: KEY },
  compile: ({ key }) => {
    const path = pathOf(key);
    return (record) => withoutValue(record, path);
  },
});

const dropKeyWhereValueEq = defineOperation({
  id: 'drop_key_where_value_eq',
  name: 'Drop key where value equals',
  description: 'Removes a key if it has a given value.',
  arguments: { key: KEY, value: EXPECTED },
  compile: ({ key, value }) => {
    const path = pathOf(key);
    return where(key, value, (record) => withoutValue(record, path));
  },
});

const dropRecordWhereValueEq = defineOperation({
  id: 'drop_record_where_value_eq',
  name: 'Drop record where value equals',
  description: 'Drops the record if a key has a given value.',
  arguments: { key: KEY, value: EXPECTED },
  compile: ({ key, value }) => where(key, value, () => undefined),
});

const renameKey = defineOperation({
  id: 'rename_key',
  aliases: ['rename'],
  name: 'Rename key',
  description: 'Moves the value of a key to another key and replaces any value there.',
  arguments: { key: KEY, new_key: NEW_KEY },
  compile: ({ key, new_key: newKey }) => rename(pathOf(key), pathOf(newKey)),
});

const renameKeyWhereValueEq = defineOperation({
  id: 'rename_key_where_value_eq',
  name: 'Rename key where value equals',
  description: 'Moves the value of a key to another key if it is a given value.',
  arguments: { key: KEY, new_key: NEW_KEY, value: EXPECTED },
  compile: ({ key, new_key: newKey, value }) => where(key, value, rename(pathOf(key), pathOf(newKey))),
});

const duplicateKeyValueToKey = defineOperation({
  id: 'duplicate_key_value_to_key',
  name: 'Duplicate key',
  description: 'Copies the value of a key to another key and replaces any value there.',
  arguments: { key: KEY, new_key: NEW_KEY },
  compile: ({ key, new_key: newKey }) => {
    const from = pathOf(key);
    const to = pathOf(newKey);
    return (record) => {
      const value = valueAt(record, from);
      return value === undefined ? record : withValue(record, to, value);
    };
  },
});

const createKeyValueIfKeyValue = defineOperation({
  id: 'create_key_value_if_key_value',
  name: 'Create key if another key has a value',
  description: 'Sets a value at a key if another key has a given value.',
  arguments: {
    key: KEY,
    value: VALUE,
    key_to_watch: { ...KEY, description: 'Path of the key to compare.' },
    value_to_watch: EXPECTED,
  },
  compile: ({ key, value, key_to_watch: watched, value_to_watch: expected }) => {
    const path = pathOf(key);
    return where(watched, expected, (record) => withValue(record, path, value));
  },
});

const mutateValueWhereKeyEq = defineOperation({
  id: 'mutate_value_where_key_eq',
  name: 'Change value of a key',
  description: 'Replaces the value of a key, if the record has the key.',
  arguments: { key: KEY, value: VALUE },
  compile: ({ key, value }) => {
    const path = pathOf(key);
    return (record) => (valueAt(record, path) === undefined ? record : withValue(record, path, value));
  },
});

const mutateValueWhereKeyEqAndValueEq = defineOperation({
  id: 'mutate_value_where_key_eq_and_value_eq',
  name: 'Change value where value equals',
  description: 'Replaces the value of a key if it is a given value.',
  arguments: { key: KEY, value: EXPECTED, value_to_set: VALUE },
  compile: ({ key, value, value_to_set: replacement }) => {
    const path = pathOf(key);
    return where(key, value, (record) => withValue(record, path, replacement));
  },
});

export const keyOperations = [
  add,
  createKeyValueIfKeyValue,
  dropKey,
  dropKeyWhereValueEq,
  dropRecordWhereValueEq,
  duplicateKeyValueToKey,
  mutateValueWhereKeyEq,
  mutateValueWhereKeyEqAndValueEq,
  renameKey,
  renameKeyWhereValueEq,
];
