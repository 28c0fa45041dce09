import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { forbidden } from '../api-error.js';
import { organizationOf, type Principal } from '../auth/principal.js';
import type { FeatureFlags } from './feature-flags.js';
import type { Feature } from './features.js';

/** The type of outputs that write files on the machine of the service. */
const FILE_OUTPUT = 'file';

/** Returns whether a caller may see and create connectors of a type. */
export type IsOffered = (type: Pick<ConnectorTypeData, 'kind' | 'type_id' | 'in_beta'>) => boolean;

/** Returns the feature that a type depends on, if any. */
const featuresOf = ({ kind, type_id, in_beta }: Parameters<IsOffered>[0]): Feature[] => [
  ...(kind === 'output' && type_id === FILE_OUTPUT ? (['file_outputs'] as const) : []),
  ...(in_beta === true ? (['beta_types'] as const) : []),
];

/**
 * Returns which types a caller is offered, or `undefined` if all of them. A user who names no
 * organization is offered what any of the user's organizations is.
 */
export async function offeredTo(flags: FeatureFlags, principal: Principal): Promise<IsOffered | undefined> {
  const userId = principal.type === 'user' ? principal.user.id : undefined;
  const named = organizationOf(principal);
  const organizations =
    named === undefined && principal.type === 'user'
      ? principal.memberships.map(({ organizationId }) => organizationId)
      : [named];
  const off: Feature[] = [];
  for (const feature of ['file_outputs', 'beta_types'] as const) {
    const states = await Promise.all(
      organizations.map((organizationId) => flags.isOn(feature, { organizationId, userId })),
    );
    if (!states.includes(true)) off.push(feature);
  }
  return off.length === 0 ? undefined : without(off);
}

/** One function for each set of features, so that lists of types can be cached by it. */
const offers = new Map<string, IsOffered>();

/** Returns whether a type is offered without these features. */
function without(off: readonly Feature[]): IsOffered {
  const key = off.join(' ');
  const isOffered = offers.get(key) ?? ((type) => !featuresOf(type).some((feature) => off.includes(feature)));
  offers.set(key, isOffered);
  return isOffered;
}

/** Returns whether a caller is offered a type. Most types depend on no feature. */
export async function isOfferedTo(
  flags: FeatureFlags,
  principal: Principal,
  type: Parameters<IsOffered>[0],
): Promise<boolean> {
  if (featuresOf(type).length === 0) return true;
  return (await offeredTo(flags, principal))?.(type) ?? true;
}

/**
 * Requires that connectors of a type may be created in an organization.
 * @throws ApiError 403
 */
export async function requireOffered(
  flags: FeatureFlags,
  type: Parameters<IsOffered>[0],
  principal: Principal,
  organizationId: string,
): Promise<void> {
  const userId = principal.type === 'user' ? principal.user.id : undefined;
  for (const feature of featuresOf(type)) {
    if (await flags.isOn(feature, { organizationId, userId })) continue;
    throw forbidden(`The operator does not offer this type: the feature ${feature} is off.`);
  }
}
