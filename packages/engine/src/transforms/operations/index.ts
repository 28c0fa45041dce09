import { argumentsSchema } from '../arguments.js';
import type { OperationType } from '../operation-type.js';
import { convertCef } from './convert-cef.js';
import { convertTimestamp } from './convert-timestamp.js';
import { jq } from './jq.js';
import { keyOperations } from './record-keys.js';
import { protectOperations } from './protect.js';
import { valueOperations } from './values.js';

/** All types of operations, by id. */
export const OPERATION_TYPES: ReadonlyMap<string, OperationType> = new Map(
  [...keyOperations, ...valueOperations, ...protectOperations, convertCef, convertTimestamp, jq]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((type) => [type.id, type]),
);

const byAlias = new Map([...OPERATION_TYPES.values()].flatMap((type) => type.aliases.map((name) => [name, type])));

/** Returns the type of an operation by its id or an alias, or `undefined` if there is none. */
export const operationType = (name: unknown): OperationType | undefined =>
  typeof name === 'string' ? (OPERATION_TYPES.get(name) ?? byAlias.get(name)) : undefined;

/** What users read about a type of operation. */
export interface OperationInfo {
  readonly type_id: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schemas of the arguments, and of the references to secrets. */
  readonly config: { readonly arguments: Record<string, unknown>; readonly secrets: Record<string, unknown> };
}

/** Describes a type of operation. */
export function describeOperation(type: OperationType): OperationInfo {
  const { id, name, description } = type;
  return {
    type_id: id,
    name,
    description,
    config: { arguments: argumentsSchema(type.arguments), secrets: secretsSchema(type.secrets) },
  };
}

function secretsSchema(secrets: OperationType['secrets']): Record<string, unknown> {
  const reference = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
  const required = Object.entries(secrets).flatMap(([name, spec]) => (spec.required ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(secrets).map(([name, { description }]) => [
        name,
        { ...reference, description, additionalProperties: false },
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
