import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { registry } from './registry.js';

/**
 * Returns whether a type can only run with the service's own identity at AWS: it signs requests as a
 * role, and has no field for an access key.
 */
export function needsAwsIdentity(type: ConnectorTypeData): boolean {
  const { kind, type_id: id, poll, delivery, aws_objects: objects, config } = type;
  const methods = [poll?.authentication, delivery?.authentication];
  if (methods.some((method) => method?.kind === 'aws_sigv4' && method.access_key_id === undefined)) return true;
  if (objects) return objects.access.access_key_id === undefined;
  const { settings, secrets } = config;
  const hasOnlyRole = settings.properties['role_arn'] !== undefined && Object.keys(secrets.properties).length === 0;
  return registry.has(`${kind}:${id}`) && hasOnlyRole;
}
