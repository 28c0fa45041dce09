import { findIntegrationPipeline, type ResolvedIntegration, type ServiceRequest } from '@connector-frame/core/connect';
import { ServiceRequestError } from '@connector-frame/host';
import type { Tenant } from '../sign-in.js';
import { isOwnForm } from '../own-form.js';
import { fieldsOf, type Fields } from './read.js';
import { HttpError } from './http-error.js';

/** Cache TTL of the pipeline of an input, in milliseconds. */
const kept = 30_000;

/** The signed-in tenant's inputs and pipelines. Other tenants' resources are not found. */
export interface Scope {
  /** Calls the service with the product's API key. */
  request: ServiceRequest;
  org: string;
  tenantId: string;
}

const idPattern = /^[\w-][\w.:-]{0,127}$/;

/** Validates an ID before it becomes part of a service path. */
export function inputId(value: unknown): string {
  if (typeof value === 'string' && idPattern.test(value)) return value;
  throw new HttpError(400, 'invalid_request', '"inputId" is not the id of an input.');
}

/** Returns the scope of a request. The tenant that it names must be the one that is signed in. */
export function scopeOf(tenant: Tenant | undefined, tenantId: unknown, request: ServiceRequest): Scope {
  if (!tenant) throw new HttpError(401, 'unauthenticated', 'Sign in first.');
  if (tenantId !== tenant.id) throw new HttpError(403, 'forbidden', 'You may not act for this tenant.');
  return { request, org: tenant.organizationId, tenantId: tenant.id };
}

/**
 * Reads the JSON body of a write. Rejects requests from other sites: they can't send JSON
 * cross-origin, nor forge the headers that `isOwnForm` checks.
 */
export async function fieldsOfWrite(request: Request): Promise<Fields> {
  if (!(request.headers.get('content-type') ?? '').startsWith('application/json')) {
    throw new HttpError(415, 'invalid_request', 'Send application/json.');
  }
  if (!isOwnForm(request)) throw new HttpError(403, 'forbidden', 'Only this site’s own pages may do this.');
  return fieldsOf(await request.json().catch(() => undefined));
}

const keyOf = ({ org }: Scope, id: string): string => `${org} ${id}`;

/**
 * Creates a lookup of the pipelines of inputs. Results are cached, because a page polls every few
 * seconds.
 */
export function createFinder() {
  const known = new Map<string, { found: ResolvedIntegration; until: number }>();
  return {
    async find(scope: Scope, id: string): Promise<ResolvedIntegration | null> {
      const now = Date.now();
      const last = known.get(keyOf(scope, id));
      if (last && last.until > now) return last.found;
      for (const [key, { until }] of known) if (until <= now) known.delete(key);
      const found = await findIntegrationPipeline({ ...scope, inputId: id }).catch(nullIfNotFound);
      if (found) known.set(keyOf(scope, id), { found, until: now + kept });
      return found;
    },
    /** Drops a cached pipeline that no longer exists. */
    forget: (scope: Scope, id: string): void => void known.delete(keyOf(scope, id)),
  };
}

export type Finder = ReturnType<typeof createFinder>;

/**
 * Maps 404 to `null`: the resource does not exist or belongs to another tenant, which are
 * indistinguishable. Rethrows every other error.
 */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof ServiceRequestError && error.status === 404) return null;
  throw error;
}
