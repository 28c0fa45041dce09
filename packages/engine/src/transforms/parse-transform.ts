import { validateCondition } from '../conditions/validate-condition.js';
import { ConnectorError } from '../connector-api/connector-error.js';
import { isRecord } from '../connector-api/record.js';
import { Problems, shown, type Problem } from '../problem.js';
import { ELSE_ACTIONS, type ResolveSecret, type TransformConfig } from './operation.js';
import { OPERATION_TYPES, operationType } from './operations/index.js';
import { checkQuery } from './operations/jq.js';
import { checkReferences } from './secret-references.js';

const MAX_OPERATIONS = 20;
const MAX_DESCRIPTION = 2_000;
const FIELDS = ['operation', 'arguments', 'description', 'secrets'];
const CONFIG_FIELDS = ['operations', 'conditions', 'else_action'];

export interface ParseOptions {
  /**
   * Returns the values of the organization's secrets. Absent: operations that refer to secrets are
   * rejected.
   */
  resolveSecret?: ResolveSecret | undefined;
}

/**
 * Validates an untrusted transform and returns it, or returns its problems. Compiles jq programs to
 * validate them.
 * @throws {ConnectorError} `jq`, of kind `retry`: the transform contains jq programs and jq can't be
 *   started
 *
 * @example
 * ```ts
 * const parsed = await parseTransform({
 *   operations: [{ operation: 'drop_key', arguments: { key: 'actor.email' } }],
 * });
 * ```
 */
export async function parseTransform(
  value: unknown,
  { resolveSecret }: ParseOptions = {},
): Promise<{ ok: true; transform: TransformConfig } | { ok: false; problems: readonly Problem[] }> {
  const problems = new Problems();
  const transform = parseConfig(value, problems);
  if (!transform) return { ok: false, problems: problems.list };
  for (const [index, { operation, arguments: given = {}, secrets }] of transform.operations.entries()) {
    const place = problems.at('operations', index);
    const type = operationType(operation);
    if (type) checkReferences(type.secrets, secrets, place.at('secrets'), resolveSecret);
    if (type?.id === 'jq') await checkQuery(given, place.at('arguments', 'query'));
  }
  return problems.list.length > 0 ? { ok: false, problems: problems.list } : { ok: true, transform };
}

/**
 * Returns a transform that was valid when it was stored. Does not compile jq programs.
 * @throws {ConnectorError} `invalid_pipeline`: a later release stored it
 */
export function readTransform(stored: unknown): TransformConfig {
  const transform = parseConfig(stored, new Problems());
  if (transform) return transform;
  const message = 'This release does not know an operation of this transform. Save it again.';
  throw new ConnectorError('invalid_pipeline', message, 'permanent');
}

/** Returns the transform, or `undefined` if it adds problems. */
function parseConfig(value: unknown, problems: Problems): TransformConfig | undefined {
  const list = problems.at('operations');
  if (!isRecord(value) || !Array.isArray(value['operations'])) {
    list.add('required', 'A transform has a list of operations.');
    return undefined;
  }
  for (const name of Object.keys(value))
    if (!CONFIG_FIELDS.includes(name)) problems.at(name).add('unknown', `A transform has ${CONFIG_FIELDS.join(', ')}.`);
  const given: readonly unknown[] = value['operations'];
  if (given.length > MAX_OPERATIONS) list.add('too_many', `A transform has at most ${MAX_OPERATIONS} operations.`);
  else for (const [index, each] of given.entries()) checkOperation(each, list.at(index));
  const { conditions, else_action: otherwise } = value;
  if (conditions !== undefined && conditions !== null) validateCondition(conditions, problems.at('conditions'));
  if (otherwise !== undefined && !ELSE_ACTIONS.some((action) => action === otherwise))
    problems.at('else_action').add('unknown', `It is ${ELSE_ACTIONS.join(' or ')}, not ${shown(otherwise)}.`);
  if (problems.list.length > 0) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  return value as unknown as TransformConfig;
}

function checkOperation(value: unknown, problems: Problems): void {
  if (!isRecord(value)) return problems.add('type', `An operation is an object, not ${shown(value)}.`);
  for (const name of Object.keys(value))
    if (!FIELDS.includes(name)) problems.at(name).add('unknown', `An operation has ${FIELDS.join(', ')}.`);
  const { operation, arguments: given = {}, description = '', secrets = {} } = value;
  if (typeof description !== 'string' || description.length > MAX_DESCRIPTION)
    problems.at('description').add('type', `It is a text of at most ${MAX_DESCRIPTION} characters.`);
  const type = operationType(operation);
  if (!type) {
    const known = [...OPERATION_TYPES.keys()].join(', ');
    return problems.at('operation').add('unknown', `${shown(operation)} is no operation. Known: ${known}.`);
  }
  if (!isRecord(given)) return problems.at('arguments').add('type', `Arguments are an object, not ${shown(given)}.`);
  if (!isRecord(secrets)) return problems.at('secrets').add('type', 'Secrets are an object of references.');
  type.prepare({ arguments: given, secrets }, problems);
}
