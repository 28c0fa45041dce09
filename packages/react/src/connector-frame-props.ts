import type { HTMLAttributes } from 'react';
import type {
  ConnectorFrameElement,
  ConnectorFrameError,
  ConnectorFrameOptions,
  ElementOptions,
  SavedConnector,
} from '@connector-frame/element';

type Session = Pick<ConnectorFrameOptions, 'sessionToken' | 'organizationId' | 'fetchSession'>;
type Host = 'hostUrl' | 'tenantId';
type Required = 'kind' | 'typeId';

/** The options of the element, under the same names, except for those of the session. */
type FormProps = Pick<ConnectorFrameOptions, Required | 'configMetaOverrides'> & {
  [Name in keyof Omit<ElementOptions, Required | Host | keyof Session | 'configMetaOverrides'>]?:
    | ElementOptions[Name]
    | undefined;
};

/**
 * Your host's routes, an existing session, or a function that requests one. At least one is
 * required.
 */
type SessionProps =
  | (Partial<Session> & { [Name in keyof Pick<ElementOptions, Host>]: NonNullable<ElementOptions[Name]> })
  | (Session & { sessionToken: string; organizationId: string } & Partial<Pick<ElementOptions, Host>>)
  | (Session & { fetchSession: () => Promise<object> } & Partial<Pick<ElementOptions, Host>>);

/** A new function on each render keeps the form; the latest one is called. */
interface CallbackProps {
  /** The form is shown. Called again after the form had to reload. */
  onReady?: (() => void) | undefined;
  /** The connector was saved. */
  onSave?: ((connector: SavedConnector) => void) | undefined;
  /** The user canceled. */
  onCancel?: (() => void) | undefined;
  /** Something failed: branch on `error.code`. */
  onError?: ((error: ConnectorFrameError) => void) | undefined;
}

type OwnProps = FormProps & SessionProps & CallbackProps;

/**
 * Props of `<ConnectorFrame>`. Children are shown while there is no form; a child with
 * `slot="loading"` or `slot="error"` replaces that view.
 */
export type ConnectorFrameProps = OwnProps &
  Omit<HTMLAttributes<ConnectorFrameElement>, keyof FormProps | keyof CallbackProps | 'dangerouslySetInnerHTML'>;
