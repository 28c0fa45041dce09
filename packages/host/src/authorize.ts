import { HostError } from './host-error.js';
import type { Call, RouteTools } from './route.js';

/** Used in URL paths, so it must not contain `/` or start with a dot. */
const organizationIdPattern = /^[\w-][\w.-]{0,127}$/;

/**
 * Returns the organization id of a tenant. Every route that takes a tenant calls this before it
 * calls the service.
 * @throws HostError `forbidden`, or whatever `authorizeTenant` throws
 */
export async function authorize<Context>(
  { options }: RouteTools<Context>,
  { request, context }: Call<Context>,
  tenantId: string,
): Promise<string> {
  try {
    const organizationId: unknown = await options.authorizeTenant(request, tenantId, context);
    if (typeof organizationId === 'string' && organizationIdPattern.test(organizationId)) return organizationId;
    if (organizationId) throw new TypeError('authorizeTenant must return an organization id, or null to deny access');
  } catch (error) {
    if (error instanceof HostError) throw error;
    // A bug in the application's check must refuse access and be reported.
    options.onError(error, request);
  }
  throw new HostError('forbidden', 'You may not act for this tenant.');
}
