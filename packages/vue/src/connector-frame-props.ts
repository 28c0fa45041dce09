import type {
  ConnectorFrameError,
  ConnectorFrameOptions,
  ElementOptions,
  SavedConnector,
} from '@connector-frame/element';

type Required = 'kind' | 'typeId';

/** Props of `<ConnectorFrame>`: the options of the element, under the same names. */
export type ConnectorFrameProps = Pick<ConnectorFrameOptions, Required | 'configMetaOverrides'> & {
  [Name in keyof Omit<ElementOptions, Required | 'configMetaOverrides'>]?: ElementOptions[Name] | undefined;
};

/** Events of `<ConnectorFrame>`. */
export type ConnectorFrameEmits = {
  /** The form is shown. Emitted again after the form had to reload. */
  ready: () => void;
  /** The connector was saved. */
  save: (connector: SavedConnector) => void;
  /** The user canceled. */
  cancel: () => void;
  /** Something failed: branch on `error.code`. */
  error: (error: ConnectorFrameError) => void;
};
