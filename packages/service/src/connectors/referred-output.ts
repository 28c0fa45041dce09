import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { ApiError } from '../api-error.js';
import type { Tables } from '../store/store.js';

/** The output that a setting names. */
export interface ReferredOutput {
  /** Name of the setting. */
  field: string;
  id: string;
  /** `type_id` that the output must have. */
  type: string;
}

/** Returns the name of the setting that refers to an output, if the type has one. */
export const outputField = ({ config }: ConnectorTypeData): string | undefined =>
  Object.entries(config.settings.properties).find(([, field]) => 'x-output' in field)?.[0];

/** Returns the output that settings name. */
export function referredOutput(
  type: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
): ReferredOutput | undefined {
  const name = outputField(type);
  const schema = name === undefined ? undefined : type.config.settings.properties[name];
  const id = name === undefined ? undefined : settings[name];
  const wanted = schema && 'x-output' in schema ? schema['x-output'] : undefined;
  return name !== undefined && wanted !== undefined && typeof id === 'string'
    ? { field: name, id, type: wanted }
    : undefined;
}

/** Creates the error for a setting that names no output of the organization. */
export const unknownOutput = ({ field, type }: Pick<ReferredOutput, 'field' | 'type'>): ApiError =>
  new ApiError(400, 'invalid_config', 'Some fields are not valid.', {
    details: {
      issues: [
        {
          path: `/settings/${field}`,
          code: 'enum',
          message: `The organization has no output of type ${type} with this ID.`,
        },
      ],
    },
  });

/**
 * Locks the output that settings name against deletion until the transaction ends.
 * @throws ApiError 400 if it does not exist
 */
export async function holdOutput(
  tables: Tables,
  organizationId: string,
  referred: ReferredOutput | undefined,
): Promise<void> {
  if (!referred) return;
  await tables.connectors.hold(organizationId, [referred.id]);
  const output = await tables.connectors.get(organizationId, 'output', referred.id);
  if (output?.type !== referred.type) throw unknownOutput(referred);
}
