import type { ObjectSchema } from '@connector-frame/catalog/types';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Messages } from '../messages/index.js';
import { buildFields } from './build-fields.js';
import type { FormSubject } from './state.js';
import type { Connector, ConnectorType } from './wire.js';

/** First letters of the first two words, for a vendor without a mark: `Okta System Log` -> `OS`. */
const monogramOf = (name: string): string =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? [])
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('');

/** What the header, the fields and the footer show. `warn` hears about override keys that the type does not have. */
export function subjectOf(
  init: InitMessage,
  type: ConnectorType,
  connector: Connector | undefined,
  messages: Messages,
  warn: (message: string) => void,
): FormSubject {
  const title = init.displayName || type.name;
  // The connector's own words are fields like the others, where they may be edited.
  const own: ObjectSchema['properties'] = {
    ...(init.isNameEditable && { name: { type: 'string', title: messages.name, maxLength: 200 } }),
    ...(init.isDescriptionEditable && {
      description: { type: 'string', title: messages.description, maxLength: 2000 },
    }),
  };
  return {
    mode: connector ? 'edit' : 'create',
    title,
    subtitle: connector ? messages.createdOn(connector.created_at) : type.description,
    // Only ever an image's address, and only one that carries its own data.
    icon: type.icon?.startsWith('data:image/svg+xml') ? type.icon : null,
    monogram: monogramOf(title),
    canTest: type.supported_features.test_connection,
    ...buildFields(type, init.configMetaOverrides, init.synthetic, warn, own),
  };
}
