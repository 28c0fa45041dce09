/**
 * All options of a connector form. These tables are their only definition: the checks of
 * `createConnectorFrame`, the `init` message and its parser, the properties and attributes of
 * `<connector-frame>`, the props of the React and Vue components and the option reference in the
 * README are derived from them. To add an option, add an entry, run `npm run option-table`, and
 * read the option in the form.
 *
 * `scripts/lib/option-table.mjs` reads this file line by line: each entry is one line below its
 * doc comment, and `@defaultValue` is the last line of the comment.
 */
import { BASE_URL, EMBED_URL } from '../addresses.js';
import type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ErrorHandler,
  FetchSession,
  SavedConnector,
} from './option-values.js';

/** Describes one option. */
export interface Option<Value> {
  /** `typeof` its values. */
  readonly type: 'string' | 'boolean' | 'number' | 'object' | 'function';
  /** The form can't be mounted without it. */
  readonly required?: true;
  /** `fetchSession` can provide it. */
  readonly session?: true;
  /** The allowed values, if they are few. */
  readonly values?: readonly Value[];
  /** Value of an option that is not given. Flags are `false`. */
  readonly initial?: Value;
  /** Always absent: carries the type of the values to `OptionValue`. */
  readonly value?: Value;
}

/** A set of options, by name. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>;

/** The type of an option's values. */
export type OptionValue<O> = O extends Option<infer Value> ? Value : never;

/** Names of the required options of a table. */
export type RequiredName<Table> = {
  [Name in keyof Table]: Table[Name] extends { readonly required: true } ? Name : never;
}[keyof Table];

/** An object with any of a table's options. */
export type OptionValues<Table> = { [Name in keyof Table]?: OptionValue<Table[Name]> | undefined };

/** An option with text. */
export const text: Option<string> = { type: 'string' };
const requiredText: Option<string> & { required: true } = { type: 'string', required: true };
const session: Option<string> & { required: true } = { type: 'string', required: true, session: true };
const flag: Option<boolean> = { type: 'boolean' };

// `Option<never>` is assignable to every `Option`.
const object: Option<never> = { type: 'object' };
const callback: Option<never> = { type: 'function' };
const kinds: readonly ComponentKind[] = ['input', 'output', 'enrichment'];

/** Returns the attribute of an option: `typeId` -> `type-id`. */
export const attributeOf = (name: string): string => name.replace(/[A-Z]/g, '-$&').toLowerCase();

/** The options that the form receives, as fields of the `init` message. */
export const formOptions = {
  /**
   * Catalog of the connector: `input` for data sources, `output` for destinations, `enrichment` for
   * lookups that add to records.
   */
  kind: { type: 'string', values: kinds, required: true },
  /** ID of the connector type, `type_id` in the catalog: `okta-systemlog`. */
  typeId: requiredText,
  /**
   * ID of the connector to edit.
   * @defaultValue creates a new connector
   */
  existingId: text,
  /**
   * Session token from your session route. It is never written into the document.
   * @defaultValue requested from `fetchSession`
   */
  sessionToken: session,
  /**
   * Organization that the session belongs to.
   * @defaultValue the organization that `fetchSession` returns
   */
  organizationId: session,
  /** Base URL of the API. The form accepts no service but its own. */
  apiBase: { ...requiredText, initial: BASE_URL },
  /**
   * Title of the form, and of the frame for screen readers.
   * @defaultValue the type's name
   */
  displayName: text,
  /**
   * Name of the connector.
   * @defaultValue the type's name and a unique suffix; unchanged on edit
   */
  name: text,
  /**
   * Description of the connector.
   * @defaultValue the type's description; unchanged on edit
   */
  description: text,
  /**
   * Shows an input for the connector's name.
   * @defaultValue `false`
   */
  isNameEditable: flag,
  /**
   * Shows an input for the connector's description.
   * @defaultValue `false`
   */
  isDescriptionEditable: flag,
  /**
   * Six theming tokens: `colorPrimary`, `colorText`, `colorBackground`, `colorBorder`, `fontFamily`
   * and `borderRadius`.
   * @defaultValue the form's own theme
   */
  appearance: object as Option<Appearance>,
  /**
   * URLs of style sheets on your origin that replace the form's own, at most 8. They don't apply to
   * secret fields.
   * @defaultValue the form's own style sheet
   */
  stylesheets: object as Option<string[]>,
  /**
   * Your texts for the fields of the connector type.
   * @defaultValue the catalog's texts
   */
  configMetaOverrides: object as Option<ConfigMetaOverrides>,
  /**
   * Shows a switch for synthetic data. Not for production.
   * @defaultValue `false`
   */
  synthetic: flag,
} satisfies OptionTable;

/** Options of the frame itself. They stay in the host page. */
export const frameOptions = {
  /**
   * Requests a session: at once if there is no `sessionToken`, and whenever the form needs a new
   * one.
   */
  fetchSession: callback as Option<FetchSession>,
  /** URL of the form, with its path and without a query: `https://connect.example.com/embed`. */
  frameOrigin: { ...requiredText, initial: EMBED_URL },
  /**
   * Milliseconds until a form that does not load is reported. If it loads later, it still works.
   * @defaultValue `15000`
   */
  loadTimeout: { type: 'number', initial: 15_000 },
} satisfies OptionTable;

/** Callbacks. The element dispatches events instead. */
export const callbackOptions = {
  /**
   * The form is shown. Called again after the frame had to reload, for example because its
   * container was moved.
   */
  onReady: callback as Option<() => void>,
  /** The connector was saved. */
  onSave: callback as Option<(connector: SavedConnector) => void>,
  /** The user canceled. */
  onCancel: callback as Option<() => void>,
  /**
   * Something failed: branch on `error.code`.
   * @defaultValue logs to the console
   */
  onError: callback as Option<ErrorHandler>,
} satisfies OptionTable;
