import type { ServiceRequest } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';

/** Returns the service's connector types of a kind. An empty list can be `null`. */
export async function loadTypes(service: ServiceRequest, kind: ComponentKind): Promise<UnknownRecord[]> {
  const body = await service(`/v1/${kind}s`, {});
  if (body === null) return [];
  if (!Array.isArray(body)) throw new HostError('upstream_error', 'The service sent an unexpected response.');
  return body.filter(isRecord);
}
