import { HostError } from './host-error.js';
import type { Call, RouteTools } from './route.js';

/** The id is part of request paths; the pattern prevents path traversal. */
const organizationIdPattern = /^[\w-][\w.-]{0,127}$/;

/** The tenant's organization id, or a refusal. Every route that names a tenant asks here, before it asks the service anything. */
export async function authorize<Context>(
  { options }: RouteTools<Context>,
  { request, context }: Call<Context>,
  tenantId: string,
): Promise<string> {
  try {
    const organizationId: unknown = await options.authorizeTenant(request, tenantId, context);
    if (typeof organizationId === 'string' && organizationIdPattern.test(organizationId)) return organizationId;
    if (organizationId) throw new TypeError('authorizeTenant answered something that is no organization id');
  } catch (error) {
    if (error instanceof HostError) throw error;
    // A mistake in the host's own check refuses, and is seen.
    options.onError(error, request);
  }
  throw new HostError('forbidden', 'You may not act for this tenant.');
}
