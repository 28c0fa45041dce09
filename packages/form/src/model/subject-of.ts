import type { ObjectSchema } from '@connector-frame/catalog/types';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Messages } from '../messages/index.js';
import { buildFields } from './build-fields.js';
import { hueOf, lettersOf } from './letter-tile.js';
import type { FormSubject } from './state.js';
import type { Connector, ConnectorType } from './wire.js';

/** Returns why no data can flow, or false if it can. */
function limitationOf({ supported_features, unavailable }: ConnectorType, messages: Messages): string | false {
  if (supported_features.runtime !== false) return false;
  switch (unavailable?.reason) {
    case 'agent':
      return messages.needsAgent;
    case 'proprietary':
      return messages.proprietary;
    case 'withdrawn':
      return messages.withdrawn;
    default:
      return messages.savedOnly;
  }
}

/** Returns the sentence that names where records for a connector are sent, if it receives them. */
export const addressOf = (connector: Connector | undefined, messages: Messages): Pick<FormSubject, 'address'> =>
  connector?.ingest ? { address: messages.sendTo(connector.ingest.url) } : {};

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
    limitation: limitationOf(type, messages),
    ...addressOf(connector, messages),
    // Accept only SVG data URIs, which load nothing.
    icon: type.icon?.startsWith('data:image/svg+xml') ? type.icon : null,
    monogram: lettersOf(title),
    hue: hueOf(type.name),
    setup: type.setup,
    // A passed test would say that the connection works.
    canTest: type.supported_features.test_connection && type.supported_features.runtime !== false,
    ...buildFields(
      type,
      init.configMetaOverrides,
      init.synthetic,
      (keys) => warn(`${messages.developer.unknown_override} ${keys}`),
      own,
    ),
  };
}
