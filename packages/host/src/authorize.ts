import { HostError } from './host-error.js';
import type { Call, RouteTools } from './route.js';

/** IDs become part of URL paths, so they must not contain path separators or dots alone. */
const organizationIdPattern = /^[\w-][\w.-]{0,127}$/;

/**
 * Returns the tenant's organization ID. Every route with a tenant calls this before it calls the
 * service.
 * @throws HostError `forbidden` if `authorizeTenant` denies access
 */
export async function authorize<Context>(
  { options }: RouteTools<Context>,
  { request, context }: Call<Context>,
  tenantId: string,
): Promise<string> {
  try {
    const organizationId: unknown = await options.authorizeTenant(request, tenantId, context);
    if (typeof organizationId === 'string' && organizationIdPattern.test(organizationId)) return organizationId;
    if (organizationId) throw new TypeError('authorizeTenant must return an organization ID, null, undefined or false');
  } catch (error) {
    if (error instanceof HostError) throw error;
    // An exception in the host's own check denies access and is reported.
    options.onError(error, request);
  }
  throw new HostError('forbidden', 'You may not act for this tenant.');
}
