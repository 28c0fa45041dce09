import { isRecord } from '../connector-api/record.js';
import type { Problems } from '../problem.js';
import type { ResolveSecret } from './operation.js';

/** The secrets that an operation can refer to, by name. */
export type SecretSpecs = Readonly<Record<string, SecretSpec>>;

export interface SecretSpec {
  readonly description: string;
  readonly required?: true;
  /** Returns what is wrong with the value of the secret, without quoting it. */
  problemOf(value: string): string | undefined;
}

/**
 * Reads the references of an operation: `{ encryption_key: { id } }`. Values are refused, because a
 * transform is stored and returned as it was given. No message quotes what was given.
 * @returns the id of the secret by name
 */
export function readReferences(
  specs: SecretSpecs,
  given: unknown,
  problems: Problems,
  operation: string,
): Map<string, string> {
  const ids = new Map<string, string>();
  const references = given ?? {};
  if (!isRecord(references)) {
    problems.add('type', 'Secrets are an object of references: { "name": { "id": "..." } }.');
    return ids;
  }
  for (const name of Object.keys(references))
    if (!Object.hasOwn(specs, name))
      problems.at(name).add('unknown', `${operation} has ${Object.keys(specs).join(', ') || 'no secrets'}.`);
  for (const [name, { required }] of Object.entries(specs)) {
    const reference = references[name];
    if (reference === undefined || reference === null) {
      if (required) problems.at(name).add('required', 'Refer to a secret of the organization: { "id": "..." }.');
      continue;
    }
    const id = isRecord(reference) && Object.keys(reference).length === 1 ? reference['id'] : undefined;
    if (typeof id === 'string' && id !== '' && id.length <= 200) ids.set(name, id);
    else problems.at(name).add('type', 'Refer to a secret by its id alone: { "id": "..." }. Values are not accepted.');
  }
  return ids;
}

/** Returns the ids of the secrets that the operations of a transform refer to, each once. */
export function referredSecrets({ operations }: { operations: readonly unknown[] }): string[] {
  const references = operations.flatMap((operation) => {
    const secrets = isRecord(operation) ? operation['secrets'] : undefined;
    return isRecord(secrets) ? Object.values(secrets) : [];
  });
  const ids = references.map((reference) => (isRecord(reference) ? reference['id'] : undefined));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** Checks that the secrets exist, and that the operation can use their values. */
export function checkReferences(
  specs: SecretSpecs,
  given: unknown,
  problems: Problems,
  resolveSecret: ResolveSecret | undefined,
): void {
  for (const [name, id] of readReferences(specs, given, problems, '')) {
    const value = resolveSecret?.(id);
    const place = problems.at(name);
    if (!resolveSecret)
      place.add('not_supported', 'Secrets of an organization can only be used under the path of that organization.');
    else if (value === undefined)
      place.at('id').add('unknown', 'The organization has no secret with this id that transforms can use.');
    else {
      const problem = specs[name]?.problemOf(value);
      if (problem !== undefined) place.add('invalid', problem);
    }
  }
}
