import type { ConnectorTypeId } from '@connector-frame/core/connect';
import {
  attributeOf,
  formOptions,
  frameOptions,
  text,
  type Option,
  type OptionTable,
  type OptionValue,
} from '@connector-frame/core/options';
import type { PropertyDeclaration, PropertyDeclarations } from '@lit/reactive-element';
import { flag, json, milliseconds, oneOf, optionalText } from './converters.js';
import { hasOtherJson, hasOtherPresence } from './has-changed.js';

/** When to preload the form's page. */
export type Preload = 'hover' | 'focus' | 'idle' | 'none';

const preloads: readonly Preload[] = ['idle', 'hover', 'focus', 'none'];

/**
 * All options of `<connector-frame>`: those of the form, and the element's own. Each is a property
 * and an attribute.
 */
export const elementOptions = {
  ...formOptions,
  ...frameOptions,
  /**
   * Base URL of your host's routes: `/api`. Provides the addresses, and sessions for `tenantId`.
   */
  hostUrl: text,
  /** Your own ID of the customer, which your host's session route receives. */
  tenantId: text,
  /**
   * When to load the form's page ahead of its use: on `hover`, on `focus`, or when the page is
   * `idle`. The attribute without a value means `idle`.
   * @defaultValue `none`
   */
  preload: { type: 'string', values: preloads, initial: 'none' } as Option<Preload>,
  /**
   * Language of the element's own texts, as a BCP 47 tag. See `registerMessages`.
   * @defaultValue the closest `lang` attribute
   */
  locale: text,
} satisfies OptionTable;

type Table = typeof elementOptions;

/** Whether the property always has a value: flags and `preload`. */
type HasInitial<Name extends keyof Table> = Name extends 'preload'
  ? true
  : Table[Name] extends Option<boolean>
    ? true
    : false;

/** The properties of `<connector-frame>`. */
export type ElementOptions = {
  [Name in keyof Table]:
    | (Name extends 'typeId' ? ConnectorTypeId : OptionValue<Table[Name]>)
    | (HasInitial<Name> extends true ? never : undefined);
};

/** Names of the properties that always have a value. */
export type InitialOptionName = {
  [Name in keyof Table]: HasInitial<Name> extends true ? Name : never;
}[keyof Table];

/** Options that need to be given before a form can be mounted. */
export type CompleteOptions = ElementOptions & { kind: NonNullable<ElementOptions['kind']>; typeId: string };

/** Lit's declarations for the properties of a table. */
export function declareProperties(table: OptionTable): PropertyDeclarations {
  const names = Object.entries(table).map(([name, option]) => [name, declarationOf(name, option)] as const);
  return Object.fromEntries(names);
}

function declarationOf(name: string, { type, values, initial }: Option<unknown>): PropertyDeclaration {
  const attribute = attributeOf(name);
  switch (type) {
    case 'boolean':
      return { attribute, converter: flag };
    case 'number':
      return { attribute, converter: milliseconds };
    case 'object':
      return { attribute, converter: json, hasChanged: hasOtherJson };
    case 'function':
      return { attribute: false, hasChanged: hasOtherPresence };
    default:
      // A wrong `kind` is reported; a wrong `preload` has no effect.
      return { attribute, converter: values && initial ? oneOf(values, initial) : optionalText };
  }
}

/** The initial values of the properties. */
export const initialOptions: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries<Option<unknown>>(elementOptions)
    .filter(([, { type, initial }]) => type === 'boolean' || initial)
    .map(([name, { initial = false }]) => [name, initial]),
);
