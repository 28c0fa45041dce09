import type { ComponentKind, FieldMetaOverride } from './option-values.js';

/**
 * The connector types that the compiler knows. Empty by default: every ID is accepted. This line in
 * any file of a project adds the types of the catalog, so that IDs and field keys are checked and
 * completed:
 *
 * ```ts
 * import type {} from '@connector-frame/catalog/register';
 * ```
 *
 * For a catalog of your own, augment the interface in `declare module
 * '@connector-frame/core/connect'`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- augmented by others
export interface ConnectorTypes {}

/**
 * IDs of the connector types of one kind, or of all. `string` until `ConnectorTypes` knows any.
 */
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

type FieldOverrides<Keys extends string> = string extends Keys
  ? Record<string, FieldMetaOverride>
  : { [Key in Keys]?: FieldMetaOverride };

/** Texts for the fields of a connector type, by field key. */
export interface ConfigMetaOverridesOf<TypeId extends string> {
  settings?: FieldOverrides<ConnectorField<TypeId, 'settings'>>;
  secrets?: FieldOverrides<ConnectorField<TypeId, 'secrets'>>;
}
