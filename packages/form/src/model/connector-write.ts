import { pruneConfig, withDefaults } from '@connector-frame/catalog/validate';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Connector, ConnectorType, ConnectorWrite, NewConnector } from './wire.js';

type Details = Pick<Connector, 'name' | 'description'>;

/**
 * Returns four base-36 digits: enough to tell two connectors of one type apart, short enough to say
 * aloud.
 *
 * @param random from 0 to 1
 */
const suffix = (random: number): string =>
  Math.floor(random * 36 ** 4)
    .toString(36)
    .padStart(4, '0');

/**
 * Returns the initial name and description: the host's, else the saved ones, else those of the
 * type.
 *
 * @param random from 0 to 1, for the suffix of a generated name
 */
export const initialDraft = (
  init: InitMessage,
  type: ConnectorType,
  saved: Connector | undefined,
  random: number,
): Details => ({
  name: init.name || saved?.name || (init.isNameEditable ? type.name : `${type.name} ${suffix(random)}`),
  description: init.description ?? saved?.description ?? (init.isDescriptionEditable ? '' : type.description),
});

/**
 * Returns the differences from the saved connector, or undefined if there are none. Settings are
 * sent as a whole, so that removed settings are deleted.
 */
export function changesOf(content: NewConnector, saved: Connector, type: ConnectorType): ConnectorWrite | undefined {
  const { settings, secrets } = content.config;
  const before = pruneConfig(type.config, withDefaults(type.config, { settings: saved.config.settings })).settings;
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
