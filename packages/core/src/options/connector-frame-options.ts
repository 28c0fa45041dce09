import type { ConfigMetaOverridesOf, ConnectorTypeId } from './connector-types.js';
import type { callbackOptions, formOptions, frameOptions, OptionValue } from './option-table.js';
import type { FetchSession } from './option-values.js';

type Table = typeof formOptions & typeof frameOptions & typeof callbackOptions;

/** The type of an option for a connector type: `typeId` and its field overrides depend on it. */
type ValueFor<Name extends keyof Table, TypeId extends string> = Name extends 'typeId'
  ? TypeId
  : Name extends 'configMetaOverrides'
    ? ConfigMetaOverridesOf<TypeId>
    : OptionValue<Table[Name]>;

type Session = 'sessionToken' | 'organizationId' | 'fetchSession';
type Required = 'kind' | 'typeId';

// Mapped over `Pick`, which keeps the doc comments of the table.
type RequiredOptions<TypeId extends string> = {
  [Name in keyof Pick<Table, Required>]: ValueFor<Name, TypeId>;
};
type OptionalOptions<TypeId extends string> = {
  [Name in keyof Omit<Table, Required | Session>]?: ValueFor<Name, TypeId> | undefined;
};

type CommonOptions<TypeId extends string> = {
  /** The element to which the frame is appended, or a CSS selector of it. */
  container: HTMLElement | string;
} & RequiredOptions<TypeId> &
  OptionalOptions<TypeId>;

/** A session that exists already, or a function that requests one. */
type SessionOptions =
  | {
      /** Session token from your session route. */
      sessionToken: string;
      /** Organization that the session belongs to. */
      organizationId: string;
      /** Requests a new session when `sessionToken` is about to expire. */
      fetchSession?: FetchSession | undefined;
    }
  | {
      /** First session token, if you have one already. */
      sessionToken?: string | undefined;
      /** Organization that the session belongs to. Default: the one that `fetchSession` returns. */
      organizationId?: string | undefined;
      /**
       * Requests a session: at once if there is no `sessionToken`, and whenever the form needs a
       * new one.
       */
      fetchSession: FetchSession;
    };

/**
 * Options of {@link createConnectorFrame}. They are read once; callbacks are read when they are
 * called.
 */
export type ConnectorFrameOptions<TypeId extends ConnectorTypeId = ConnectorTypeId> = CommonOptions<TypeId> &
  SessionOptions;

/** A mounted frame. */
export interface ConnectorFrame {
  /**
   * Removes the frame with its listeners and timers, and forgets the token. No callback is called
   * afterwards. Can be called more than once.
   */
  destroy(): void;
}
