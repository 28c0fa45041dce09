import { pruneConfig } from '@connector-frame/catalog/validate';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Connector, ConnectorType, ConnectorWrite, NewConnector } from './wire.js';

type Words = Pick<Connector, 'name' | 'description'>;

/** Four signs of base 36: enough to tell two connectors of one type apart, short enough to say aloud. */
const suffix = (random: number): string =>
  Math.floor(random * 36 ** 4)
    .toString(36)
    .padStart(4, '0');

/** Name and description before a person typed any: what the host gave, else what is saved, else what the type suggests. */
export const firstWords = (
  init: InitMessage,
  type: ConnectorType,
  saved: Connector | undefined,
  random: number,
): Words => ({
  name: init.name || saved?.name || (init.isNameEditable ? type.name : `${type.name} ${suffix(random)}`),
  description: init.description ?? saved?.description ?? (init.isDescriptionEditable ? '' : type.description),
});

/** What differs from the saved connector; undefined when nothing does. Settings go as a whole: one that was taken out must be gone. */
export function changesOf(content: NewConnector, saved: Connector, type: ConnectorType): ConnectorWrite | undefined {
  const { settings, secrets } = content.config;
  const before = pruneConfig(type.config, { settings: saved.config.settings, secrets: {} }).settings;
  const config = {
    ...(JSON.stringify(settings) !== JSON.stringify(before) && { settings }),
    ...(Object.keys(secrets).length > 0 && { secrets }),
  };
  const changes = {
    ...(content.name !== saved.name && { name: content.name }),
    ...(content.description !== saved.description && { description: content.description }),
    ...(Object.keys(config).length > 0 && { config }),
  };
  return Object.keys(changes).length > 0 ? changes : undefined;
}
