import { findIntegrationPipeline, type ResolvedIntegration, type ServiceRequest } from '@connector-frame/core/connect';
import { ServiceRequestError } from '@connector-frame/host';
import type { Tenant } from '../sign-in.js';
import { isOwnForm } from '../own-form.js';
import { fieldsOf, type Fields } from './read.js';
import { Refusal } from './refusal.js';

/** Milliseconds for which the way from an input to its pipeline is remembered. */
const kept = 30_000;

/** The inputs of whoever is signed in, and their pipelines: nobody else's are found. */
export interface Scope {
  /** Calls the service with the product's API key. */
  request: ServiceRequest;
  org: string;
  tenantId: string;
}

const idPattern = /^[\w-][\w.:-]{0,127}$/;

/** An id that may stand in a path of the service. */
export function inputId(value: unknown): string {
  if (typeof value === 'string' && idPattern.test(value)) return value;
  throw new Refusal(400, 'invalid_request', '"inputId" is not the id of an input.');
}

/** Whose data a request may have. The tenant it names has to be the one that is signed in. */
export function scopeOf(tenant: Tenant | undefined, tenantId: unknown, request: ServiceRequest): Scope {
  if (!tenant) throw new Refusal(401, 'unauthenticated', 'Sign in first.');
  if (tenantId !== tenant.id) throw new Refusal(403, 'forbidden', 'You may not act for this tenant.');
  return { request, org: tenant.organizationId, tenantId: tenant.id };
}

/** The fields of a write that a page of this site sent. No other site can send JSON, nor be this one's page. */
export async function fieldsOfWrite(request: Request): Promise<Fields> {
  if (!(request.headers.get('content-type') ?? '').startsWith('application/json')) {
    throw new Refusal(415, 'invalid_request', 'Send application/json.');
  }
  if (!isOwnForm(request)) throw new Refusal(403, 'forbidden', 'Only this site’s own pages may do this.');
  return fieldsOf(await request.json().catch(() => undefined));
}

const keyOf = ({ org }: Scope, id: string): string => `${org} ${id}`;

/** Finds the pipelines of inputs, and remembers them for a while: a page asks every few seconds. */
export function createFinder() {
  const known = new Map<string, { found: ResolvedIntegration; until: number }>();
  return {
    async find(scope: Scope, id: string): Promise<ResolvedIntegration | null> {
      const now = Date.now();
      const last = known.get(keyOf(scope, id));
      if (last && last.until > now) return last.found;
      for (const [key, { until }] of known) if (until <= now) known.delete(key);
      const found = await findIntegrationPipeline({ ...scope, inputId: id }).catch(unlessGone);
      if (found) known.set(keyOf(scope, id), { found, until: now + kept });
      return found;
    },
    /** It is not where it was. */
    forget: (scope: Scope, id: string): void => void known.delete(keyOf(scope, id)),
  };
}

export type Finder = ReturnType<typeof createFinder>;

/** What is not there, or is another tenant's, which is the same. All else is a failure. */
export function unlessGone(error: unknown): null {
  if (error instanceof ServiceRequestError && error.status === 404) return null;
  throw error;
}
