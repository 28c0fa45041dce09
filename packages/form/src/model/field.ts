/**
 * The fields that the view renders: a tree, built once from the type's schemas, the host's text
 * overrides and the messages. A field contains its texts and rules; its value and error are stored
 * in the form under `path`.
 */
import type { Condition, StringFormat } from '@connector-frame/catalog/types';

interface FieldBase {
  /**
   * JSON Pointer into the config: `/settings/org_url`. In the template of a list row, it is
   * relative to the row.
   */
  path: string;
  key: string;
  label: string;
  help?: string;
  placeholder?: string;
  required: boolean;
  advanced: boolean;
  deprecated: boolean;
  /** Whether changing it requires stored secrets to be entered again. */
  destination: boolean;
  /** A secret that only the service uses. */
  local?: boolean;
  when?: Condition;
}

export interface TextField extends FieldBase {
  kind: 'text';
  /**
   * Selects the on-screen keyboard and the normalization. `multiline`, `json` and `pem` are
   * separate kinds.
   */
  format?: Exclude<StringFormat, 'multiline' | 'json' | 'pem'>;
  maxLength?: number;
}

/** Multi-line text; `json` and `pem` can also be read from a file. */
export interface MultilineField extends FieldBase {
  kind: 'multiline';
  format: 'multiline' | 'json' | 'pem';
  maxLength?: number;
}

/**
 * While the user types, the stored value is the text as typed; `leave` converts it to a number if
 * it is one.
 */
export interface NumberField extends FieldBase {
  kind: 'number';
  integer: boolean;
  minimum?: number;
  maximum?: number;
  unit?: string;
}

export interface BooleanField extends FieldBase {
  kind: 'boolean';
}

/** `''` means that no option is selected. */
export interface EnumField extends FieldBase {
  kind: 'enum';
  options: { value: string; label: string }[];
}

/** The value is RFC 3339 in UTC (`2026-11-12T08:30:00Z`), or `''`. */
export interface DateTimeField extends FieldBase {
  kind: 'date-time';
}

export interface CronField extends FieldBase {
  kind: 'cron';
}

/** Rows of one string each. Row i is stored at `${path}/${i}`. */
export interface StringListField extends FieldBase {
  kind: 'string-list';
  item: TextField;
  minItems?: number;
  maxItems?: number;
}

/** Rows of flat objects. Column `key` of row i is stored at `${path}/${i}/${key}`. */
export interface ObjectListField extends FieldBase {
  kind: 'object-list';
  columns: Field[];
  minItems?: number;
  maxItems?: number;
}

export interface GroupField extends FieldBase {
  kind: 'group';
  fields: Field[];
}

/**
 * Key/value rows. The draft stores ordered rows, the cells of row i at `${path}/${i}/key` and
 * `${path}/${i}/value`; the config contains an object.
 */
export interface MapField extends FieldBase {
  kind: 'map';
  maxItems?: number;
}

/**
 * The discriminator is stored at `${path}/${discriminator}`, the fields of the selected variant
 * under `${path}/${key}`, where `key` is the variant's property in the schema.
 */
export interface VariantsField extends FieldBase {
  kind: 'variants';
  discriminator: string;
  /** The variant selected in a new connector. */
  initial?: string | undefined;
  variants: { value: string; label: string; help?: string; fields: Field[] }[];
}

/** One secret. Its control has its own shadow root (`view/protected/secret-control.ts`). */
export interface SecretField extends FieldBase {
  kind: 'secret';
  /** `map`: rows of name and secret value (cells as in `MapField`) that form one secret. */
  shape: 'line' | 'multiline' | 'json' | 'pem' | 'map';
  maxLength?: number;
}

export type Field =
  | TextField
  | MultilineField
  | NumberField
  | BooleanField
  | EnumField
  | DateTimeField
  | CronField
  | StringListField
  | ObjectListField
  | GroupField
  | MapField
  | VariantsField
  | SecretField;

/** Metadata of a secret that the service stores. */
export interface KeptSecret {
  id: string;
  name?: string;
  /** RFC 3339. */
  updatedAt: string;
  /** The account that was connected instead of entering a value. */
  account?: { name: string; needsReauth: boolean };
}

/**
 * State of a secret in the form.
 *
 * - `empty`: never set
 * - `connected`: an account was connected since; a save stores it
 * - `kept`: stored by the service
 * - `typing`: a new value is being entered; `replaces` is the stored secret behind it, if any;
 *   `again` means that its destination changed, so that the stored secret cannot be restored
 * - `cleared`: removed on save
 * - `reentry`: stored, but the destination changed, so it must be entered again
 */
export type SecretState =
  | { state: 'empty' }
  | { state: 'kept'; kept: KeptSecret }
  | { state: 'typing'; replaces?: KeptSecret; again?: boolean }
  | { state: 'cleared'; kept: KeptSecret }
  | { state: 'connected'; consent: string; account: string; replaces?: KeptSecret }
  | { state: 'reentry'; kept: KeptSecret };
