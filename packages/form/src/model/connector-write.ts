import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { pruneConfig } from '@connector-frame/catalog/validate';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { SecretState } from './field.js';
import type { FormSubject } from './state.js';
import type { ConfigWrite, Connector, ConnectorType, ConnectorWrite } from './wire.js';

/** What stands in the form when a person saves. */
export interface Content {
  name: string;
  description: string;
  /** Pruned; its secrets are the ones typed. */
  config: ConnectorConfig;
  secretAt: (path: string) => SecretState;
}

type Words = Pick<InitMessage, 'name' | 'description'>;

/** Four signs of base 36: enough to tell two connectors of one type apart, short enough to say aloud. */
export const suffix = (random: number): string =>
  Math.floor(random * 36 ** 4)
    .toString(36)
    .padStart(4, '0');

/** What the name and description inputs hold at first. */
export const firstWords = (init: Words, type: ConnectorType, saved: Connector | undefined): Required<Words> => ({
  name: init.name || saved?.name || type.name,
  description: init.description ?? saved?.description ?? '',
});

const isGone = (secret: SecretState): boolean => secret.state === 'cleared';

function secretWrites({ config, secretAt }: Content, type: ConnectorType): Required<ConfigWrite>['secrets'] {
  const typed = Object.entries(config.secrets).map(([key, value]) => [key, { value }] as const);
  const cleared = Object.keys(type.config.secrets.properties)
    .filter((key) => isGone(secretAt(`/secrets/${key}`)))
    .map((key) => [key, null] as const);
  return Object.fromEntries([...cleared, ...typed]);
}

/** All of the configuration; a secret that is kept is left out. */
export const configWrite = (content: Content, type: ConnectorType): Required<ConfigWrite> => ({
  settings: content.config.settings,
  secrets: secretWrites(content, type),
});

/** A new connector. `fallbackName` is for one that nobody named. */
export function createWrite(
  content: Content,
  {
    init,
    type,
    subject,
    fallbackName,
  }: { init: Words; type: ConnectorType; subject: FormSubject; fallbackName: string },
): ConnectorWrite {
  const described = subject.descriptionEditable ? content.description : init.description;
  return {
    name: (subject.nameEditable && content.name) || init.name || fallbackName,
    // Nobody said anything: the type's own words. A description that was there and was taken out stays out.
    description: described || (init.description ? (described ?? '') : type.description),
    type: type.type_id,
    config: configWrite(content, type),
  };
}

/** Only what changed; undefined when nothing did. Settings go as a whole: one that was taken out must be gone. */
export function changeWrite(
  content: Content,
  { init, type, subject, saved }: { init: Words; type: ConnectorType; subject: FormSubject; saved: Connector },
): ConnectorWrite | undefined {
  const name = subject.nameEditable ? content.name : init.name;
  const description = subject.descriptionEditable ? content.description : init.description;
  const { settings, secrets } = configWrite(content, type);
  const before = pruneConfig(type.config, { settings: saved.config.settings, secrets: {} }).settings;
  const config: ConfigWrite = {
    ...(JSON.stringify(settings) !== JSON.stringify(before) && { settings }),
    ...(Object.keys(secrets).length > 0 && { secrets }),
  };
  const write: ConnectorWrite = {
    ...(name && name !== saved.name && { name }),
    ...(description !== undefined && description !== saved.description && { description }),
    ...(Object.keys(config).length > 0 && { config }),
  };
  return Object.keys(write).length > 0 ? write : undefined;
}
