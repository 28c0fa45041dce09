import { ConnectorError } from '@connector-frame/engine/connector-api';

/** With more tables than this, the user has to list those to read. */
export const MAX_TABLES = 200;
export const TOO_MANY_TABLES = `There are more than ${MAX_TABLES} tables. List those to read.`;

/** Common names of columns with a modification or creation time, most reliable first. */
export const TIME_COLUMNS = [
  'updated_at',
  'modified_at',
  'last_modified',
  'last_updated',
  'created_at',
  'inserted_at',
  'occurred_at',
  'event_time',
  'created',
  'timestamp',
];

/**
 * Adds the name of the table to an error of a query.
 * @param label name at the beginning of a sentence: `The table orders`
 */
export function tableError(label: string, { code, message, kind }: ConnectorError): ConnectorError {
  const hint = code === 'timeout' ? ' An index on its cursor column may help.' : '';
  return new ConnectorError(code, `${label} cannot be read: ${message}${hint}`, kind);
}
