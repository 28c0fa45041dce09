import type { Option } from '@connector-frame/core/options';
import { elementOptions, type CompleteOptions, type ElementOptions } from './element-options.js';

/**
 * Milliseconds until a missing option is reported. Longer than a page's scripts need to set the
 * options one after another.
 */
export const MISSING_AFTER = 3000;

/**
 * Returns what is wrong with options that can't become valid by waiting for others, or `undefined`.
 */
export function findProblem(options: ElementOptions): string | undefined {
  const { kind } = options;
  const kinds = elementOptions.kind.values;
  if (kind && !kinds.includes(kind)) return `kind: "${kind}" is not ${kinds.join(' or ')}`;
  for (const [name, { type }] of Object.entries<Option<unknown>>(elementOptions)) {
    const value: unknown = Object(options)[name];
    if (typeof value === 'string' && type === 'object') return `${name}: "${value}" is not JSON`;
  }
  return undefined;
}

/** Whether a form can be mounted: there is a connector type, and a session or a source of one. */
export function isComplete(options: ElementOptions): options is CompleteOptions {
  const { kind, typeId, sessionToken, organizationId, fetchSession, hostUrl, tenantId } = options;
  const session = (sessionToken && organizationId) || fetchSession || (hostUrl && tenantId);
  return Boolean(kind && typeId && session);
}

/**
 * Returns which option a form with a connector type still lacks, and what to set. `undefined` if
 * nothing is missing, or no type is chosen yet.
 */
export function findMissing(options: ElementOptions): string | undefined {
  const { kind, typeId, sessionToken, organizationId, hostUrl, tenantId } = options;
  if (!typeId || isComplete(options)) return undefined;
  let missing = 'host-url with tenant-id, or fetchSession';
  if (!kind) missing = 'kind';
  else if (hostUrl) missing = 'tenant-id';
  else if (tenantId) missing = 'host-url';
  else if (sessionToken) missing = 'organization-id';
  else if (organizationId) missing = 'session-token';
  return `Set ${missing}: the form can\u2019t be mounted without it`;
}

/** Identity of the mounted form. A change requires a remount; `''` means no form. */
export function identityOf(options: ElementOptions): string {
  const { kind, typeId, existingId, organizationId, frameOrigin, apiBase, hostUrl, tenantId } = options;
  if (!kind || !typeId) return '';
  return JSON.stringify([kind, typeId, existingId, organizationId, frameOrigin, apiBase, hostUrl, tenantId]);
}
