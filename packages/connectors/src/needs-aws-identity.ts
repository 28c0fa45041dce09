import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { registry } from './registry.js';

/**
 * Returns whether a type can only run with the service's own identity at AWS: it signs requests as a
 * role, and has no field for an access key.
 */
export function needsAwsIdentity(type: ConnectorTypeData): boolean {
  const { kind, type_id: id, poll, config } = type;
  if (poll?.authentication.kind === 'aws_sigv4') return poll.authentication.access_key_id === undefined;
  const isCode = registry.has(`${kind}:${id}`);
  return isCode && hasOnlyRole(config);
}

const hasOnlyRole = ({ settings, secrets }: ConnectorTypeData['config']): boolean =>
  (settings.required?.includes('role_arn') ?? false) && Object.keys(secrets.properties ?? {}).length === 0;
