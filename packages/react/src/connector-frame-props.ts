import type { HTMLAttributes } from 'react';
import type {
  ConnectorFrameElement,
  ConnectorFrameError,
  ConnectorFrameOptions,
  SavedConnector,
} from '@connector-frame/element';

type Callbacks = 'onReady' | 'onSave' | 'onCancel' | 'onError';
type Session = Pick<ConnectorFrameOptions, 'sessionToken' | 'organizationId' | 'fetchSession'>;

/** What the form is: the options of the element, under the same names. */
type FormProps = Omit<ConnectorFrameOptions, 'container' | Callbacks | keyof Session> & {
  /** Loads the form's page ahead of its use: on `hover`, on `focus`, when the page is `idle`. Default: `none`. */
  preload?: ConnectorFrameElement['preload'] | undefined;
};

/** Your host's routes, a session made beforehand, or a function that makes one: at least one of them. */
type SessionProps =
  | (Partial<Session> & {
      /** Where your host's routes stand: `/api`. Configuration and sessions are fetched from there. */
      hostUrl: string;
      /** Whose connector it is: your own id of the customer, which your host's `authorizeTenant` gets. */
      tenantId: string;
    })
  | (Session & {
      sessionToken: string;
      organizationId: string;
      hostUrl?: string | undefined;
      tenantId?: string | undefined;
    })
  | (Session & { fetchSession: () => Promise<object>; hostUrl?: string | undefined; tenantId?: string | undefined });

/** What the page is told. The functions may be new ones on each render: the form stays, and the latest is called. */
interface CallbackProps {
  /** The form is shown. Again after it had to load anew. */
  onReady?: (() => void) | undefined;
  /** The connector was saved. */
  onSave?: ((connector: SavedConnector) => void) | undefined;
  /** The person canceled. */
  onCancel?: (() => void) | undefined;
  /** Anything failed: branch on `error.code`. */
  onError?: ((error: ConnectorFrameError) => void) | undefined;
}

type OwnProps = FormProps & SessionProps & CallbackProps;

/** Props of `<ConnectorFrame>`. Children are its fallback; one with `slot="loading"` or `slot="error"` takes the place of that view. */
export type ConnectorFrameProps = OwnProps &
  Omit<HTMLAttributes<ConnectorFrameElement>, keyof FormProps | keyof CallbackProps | 'dangerouslySetInnerHTML'>;
