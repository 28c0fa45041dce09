import type { ComponentKind, FieldOverride } from './option-values.js';

/**
 * The connector types that the compiler knows. Empty by default: every ID is accepted. With the types
 * of the catalog, IDs and field keys are checked and completed by editors:
 *
 * ```ts
 * import type { CatalogTypes } from '@connector-frame/catalog/connector-types';
 *
 * declare module '@connector-frame/core/connect' {
 *   interface ConnectorTypes extends CatalogTypes {}
 * }
 * ```
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- others add to it
export interface ConnectorTypes {}

/** Ids of the connector types of one kind, or of both. `string` until `ConnectorTypes` knows any. */
export type ConnectorTypeId<Kind extends ComponentKind = ComponentKind> = [keyof ConnectorTypes] extends [never]
  ? string
  : { [K in keyof ConnectorTypes]: K extends Kind ? keyof ConnectorTypes[K] & string : never }[keyof ConnectorTypes];

type KeysIn<Fields, Section extends 'settings' | 'secrets'> =
  Fields extends Record<Section, infer Keys> ? keyof Keys & string : never;

/** Keys of a type's settings or secrets. `string` until `ConnectorTypes` knows any. */
export type ConnectorField<TypeId extends string, Section extends 'settings' | 'secrets'> = [
  keyof ConnectorTypes,
] extends [never]
  ? string
  : {
      [K in keyof ConnectorTypes]: TypeId extends keyof ConnectorTypes[K]
        ? KeysIn<ConnectorTypes[K][TypeId], Section>
        : never;
    }[keyof ConnectorTypes];

type Words<Keys extends string> = string extends Keys
  ? Record<string, FieldOverride>
  : { [Key in Keys]?: FieldOverride };

/** Your words for a type's fields, by their keys. */
export interface ConfigMetaOverridesOf<TypeId extends string> {
  settings?: Words<ConnectorField<TypeId, 'settings'>>;
  secrets?: Words<ConnectorField<TypeId, 'secrets'>>;
}
