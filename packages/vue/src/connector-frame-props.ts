import type {
  ConnectorFrameElement,
  ConnectorFrameError,
  ConnectorFrameOptions,
  SavedConnector,
} from '@connector-frame/element';

type Callbacks = 'onReady' | 'onSave' | 'onCancel' | 'onError';
type Session = 'sessionToken' | 'organizationId' | 'fetchSession';

/** Props of `<ConnectorFrame>`: the element's options, under the same names. */
export type ConnectorFrameProps = Omit<ConnectorFrameOptions, 'container' | Callbacks | Session> &
  Partial<Pick<ConnectorFrameOptions, Session>> & {
    /** Where your host's routes stand: `/api`. Configuration and sessions are fetched from there. */
    hostUrl?: string | undefined;
    /** Whose connector it is: your own id of the customer, which your host's `authorizeTenant` gets. */
    tenantId?: string | undefined;
    /** Loads the form's page ahead of its use: on `hover`, on `focus`, when the page is `idle`. Default: `none`. */
    preload?: ConnectorFrameElement['preload'] | undefined;
  };

/** What `<ConnectorFrame>` emits. */
export type ConnectorFrameEmits = {
  /** The form is shown. Again after it had to load anew. */
  ready: () => void;
  /** The connector was saved. */
  save: (connector: SavedConnector) => void;
  /** The person canceled. */
  cancel: () => void;
  /** Anything failed: branch on `error.code`. */
  error: (error: ConnectorFrameError) => void;
};
