import type { ConnectorFrameError, SavedConnector } from '@connector-frame/element';
import type { PropType } from 'vue';
import type { ConnectorFrameProps } from './connector-frame-props.js';

type Props = ConnectorFrameProps;

// An absent flag is `undefined`, so that a default of the application can speak; Vue would make it `false`.
const flag = { type: Boolean, default: undefined };
const text = String;

/** The same props as the type's, for Vue: what they take is said there. */
export const props = {
  kind: { type: String as PropType<Props['kind']>, required: true },
  typeId: { type: String, required: true },
  existingId: text,
  displayName: text,
  name: text,
  description: text,
  isNameEditable: flag,
  isDescriptionEditable: flag,
  appearance: Object as PropType<Props['appearance']>,
  stylesheets: Array as PropType<Props['stylesheets']>,
  configMetaOverrides: Object as PropType<Props['configMetaOverrides']>,
  synthetic: flag,
  frameOrigin: text,
  apiBase: text,
  loadTimeout: Number,
  sessionToken: text,
  organizationId: text,
  fetchSession: Function as PropType<Props['fetchSession']>,
  hostUrl: text,
  tenantId: text,
  preload: String as PropType<Props['preload']>,
} satisfies Record<keyof Props, unknown>;

export const emits = {
  ready: () => true,
  save: (_connector: SavedConnector) => true,
  cancel: () => true,
  error: (_error: ConnectorFrameError) => true,
};
