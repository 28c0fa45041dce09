import type { ServiceRequest } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { closestName } from './closest-name.js';
import type { AllowedTypes } from './host-options.js';
import { isRecord } from './is-record.js';
import { isKind, KINDS } from './kinds.js';
import { loadTypes } from './load-types.js';

/** Type IDs of the service's catalog, by kind. A kind that was not loaded is absent. */
export type KnownTypes = { readonly [Kind in ComponentKind]?: ReadonlySet<string> };

/**
 * Checks the shape of the option `allow`, as far as that is possible without the service.
 * @throws TypeError with what to write instead
 */
export function checkAllowShape(allow: unknown): void {
  if (allow === undefined) return;
  if (!isRecord(allow)) {
    throw new TypeError(`createHost: allow must be { input: [...], output: [...] }, got ${JSON.stringify(allow)}`);
  }
  for (const [kind, ids] of Object.entries(allow)) {
    if (!isKind(kind)) {
      throw new TypeError(
        `createHost: allow has "${kind}". Write "${closestName(kind, KINDS) ?? 'input", "output" or "enrichment'}".`,
      );
    }
    if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === 'string' && id !== ''))) {
      throw new TypeError(
        `createHost: allow.${kind} must be a list of type IDs such as ["okta-systemlog"], got ${JSON.stringify(ids)}`,
      );
    }
  }
}

/**
 * Returns an error that names the type IDs of `allow` that the service doesn't have, and what to
 * write instead. `undefined` if it has them all.
 */
export function unknownTypes(allow: AllowedTypes, known: KnownTypes): TypeError | undefined {
  const problems = KINDS.flatMap((kind) => {
    const ids = known[kind];
    const unknown = ids ? (allow[kind] ?? []).filter((id) => !ids.has(id)) : [];
    return unknown.map((id) => `allow.${kind} has "${id}", which the service doesn't have. ${remedy(kind, id, known)}`);
  });
  return problems.length > 0 ? new TypeError(`createHost: ${problems.join('\n')}`) : undefined;
}

function remedy(kind: ComponentKind, id: string, known: KnownTypes): string {
  const other = KINDS.find((one) => known[one]?.has(id));
  if (other) return `It is an ${other}: move it to allow.${other}.`;
  const closest = closestName(id, known[kind] ?? []);
  return closest ? `Write "${closest}", or remove it.` : 'Remove it.';
}

/**
 * Checks the option `allow` against the service's catalog.
 * @throws TypeError for IDs that the service doesn't have
 */
export async function checkAllow(service: ServiceRequest, allow: AllowedTypes | undefined): Promise<void> {
  if (!allow) return;
  // Not every service has enrichments.
  const kinds = KINDS.filter((kind) => kind !== 'enrichment' || allow.enrichment);
  const loaded = kinds.map(async (kind) => [kind, idsOf(await loadTypes(service, kind))] as const);
  const error = unknownTypes(allow, Object.fromEntries(await Promise.all(loaded)));
  if (error) throw error;
}

/** Returns the IDs of connector types. */
export function idsOf(types: readonly { readonly [field: string]: unknown }[]): Set<string> {
  return new Set(types.map(({ type_id }) => String(type_id)));
}
