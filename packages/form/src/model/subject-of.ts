import type { ObjectSchema } from '@connector-frame/catalog/types';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Messages } from '../messages/index.js';
import { buildFields } from './build-fields.js';
import type { FormSubject } from './state.js';
import type { Connector, ConnectorType } from './wire.js';

/**
 * Returns the initials of the first two words, for a vendor without an icon: `Okta System Log` ->
 * `OS`.
 */
const monogramOf = (name: string): string =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? [])
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('');

/**
 * Returns the contents of the header, fields and footer.
 *
 * @param warn called with a text for the developer if the type does not have some override keys
 */
export function subjectOf(
  init: InitMessage,
  type: ConnectorType,
  connector: Connector | undefined,
  messages: Messages,
  warn: (message: string) => void,
): FormSubject {
  const title = init.displayName || type.name;
  // The connector's own name and description are ordinary fields if they are editable.
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
    limitation: type.supported_features.runtime === false && messages.savedOnly,
    // Accept only SVG data URIs, which load nothing.
    icon: type.icon?.startsWith('data:image/svg+xml') ? type.icon : null,
    monogram: monogramOf(title),
    canTest: type.supported_features.test_connection,
    ...buildFields(
      type,
      init.configMetaOverrides,
      init.synthetic,
      (keys) => warn(`${messages.developer.unknown_override} ${keys}`),
      own,
    ),
  };
}
