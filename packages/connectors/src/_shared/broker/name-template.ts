import {
  ConnectorError,
  type DataRecord,
  type KeyPath,
  parseKeyPath,
  valueAt,
} from '@connector-frame/engine/connector-api';

export interface NameTemplate {
  /** The name, if it has no fields. */
  readonly fixed: string | undefined;
  /** Returns the name for a record, or `undefined` if the record lacks a field of it. */
  nameOf(record: DataRecord): string | undefined;
}

/**
 * Compiles the name of a topic, key or subject, which may contain fields of a record:
 * `events.{{ host }}`.
 *
 * @param unconfined whether fields may make up the whole name. Otherwise the name must begin with
 *   text, so that who writes records does not choose freely where they go.
 * @throws ConnectorError `invalid_config`
 */
export function compileName(template: string, unconfined: boolean, what: string): NameTemplate {
  const parts = template.split(/\{\{([^{}]*)\}\}/).map((part, index): string | KeyPath => {
    if (index % 2 === 0) return part;
    const path = parseKeyPath(part.trim());
    if (path) return path;
    throw new ConnectorError('invalid_config', `The ${what} has a field whose path is not valid.`, 'permanent');
  });
  if (parts.length === 1) return { fixed: template, nameOf: () => template };
  if (parts[0] === '' && !unconfined)
    throw new ConnectorError(
      'invalid_config',
      `The ${what} must begin with text, so that records can't choose any ${what}. Or allow unconfined templates.`,
      'permanent',
    );
  return {
    fixed: undefined,
    nameOf(record) {
      let name = '';
      for (const part of parts) {
        if (typeof part === 'string') {
          name += part;
          continue;
        }
        const value = valueAt(record, part);
        if (typeof value === 'number' || typeof value === 'boolean') name += String(value);
        else if (typeof value === 'string' && value !== '') name += value;
        else return undefined;
      }
      return name;
    },
  };
}

/** Whether a type's switch allows fields to make up a whole name. */
export const isUnconfined = (settings: Readonly<Record<string, unknown>>): boolean =>
  settings['dangerously_allow_unconfined_template_resolution'] === true;
