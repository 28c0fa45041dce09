import type { ConnectorFrameError, SavedConnector } from '@connector-frame/element';
import type { PropType } from 'vue';
import type { ConnectorFrameProps } from './connector-frame-props.js';

type Props = ConnectorFrameProps;

// An absent flag is `undefined`, so that a default of the application can speak; Vue would make it `false`.
const flag = { type: Boolean, default: undefined };
const text = String;
/** Says what values a prop takes. */
export const like = <T>(constructor: unknown): PropType<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Vue knows constructors alone; the element looks at the values
  constructor as PropType<T>;

/** The same props as the type's, for Vue: what they take is said there. */
export const props = {
  kind: { type: like<Props['kind']>(String), required: true },
  typeId: { type: String, required: true },
  existingId: text,
  displayName: text,
  name: text,
  description: text,
  isNameEditable: flag,
  isDescriptionEditable: flag,
  appearance: like<Props['appearance']>(Object),
  stylesheets: like<Props['stylesheets']>(Array),
  configMetaOverrides: like<Props['configMetaOverrides']>(Object),
  synthetic: flag,
  frameOrigin: text,
  apiBase: text,
  loadTimeout: Number,
  sessionToken: text,
  organizationId: text,
  fetchSession: like<Props['fetchSession']>(Function),
  hostUrl: text,
  tenantId: text,
  preload: like<Props['preload']>(String),
} satisfies Record<keyof Props, unknown>;

export const emits = {
  ready: () => true,
  save: (_connector: SavedConnector) => true,
  cancel: () => true,
  error: (_error: ConnectorFrameError) => true,
};
