/**
 * What the view renders: a tree of fields, made once from the type's schemas, the host's copy overrides
 * and the language. A field knows its words and rules; its value and error live in the store under `path`.
 */
import type { Condition, StringFormat } from '@connector-frame/catalog/types';

interface FieldBase {
  /** JSON Pointer from the config: `/settings/org_url`. In a list row's template it is relative to the row. */
  path: string;
  key: string;
  label: string;
  help?: string;
  placeholder?: string;
  required: boolean;
  advanced: boolean;
  deprecated: boolean;
  /** Changing it asks for kept secrets again. */
  destination: boolean;
  when?: Condition;
}

export interface TextField extends FieldBase {
  kind: 'text';
  /** Decides input type, keyboard and autocapitalize. `multiline`, `json`, `pem` have kinds of their own. */
  format?: Exclude<StringFormat, 'multiline' | 'json' | 'pem'>;
  maxLength?: number;
}

/** Multi-line text; `json` and `pem` also offer a file from disk. */
export interface MultilineField extends FieldBase {
  kind: 'multiline';
  format: 'multiline' | 'json' | 'pem';
  maxLength?: number;
}

/** While typing, the store holds the text as typed; `leave` turns it into a number where it is one. */
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

/** `''` is: nothing chosen. */
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

/** Rows of one text each. Row i lives at `${path}/${i}`. */
export interface StringListField extends FieldBase {
  kind: 'string-list';
  item: TextField;
  minItems?: number;
  maxItems?: number;
}

/** Rows of flat objects. Row i's column lives at `${path}/${i}/${key}`. */
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

/** Key/value rows. The store keeps ordered rows, the cells of row i at `${path}/${i}/key` and `${path}/${i}/value`; the config gets an object. */
export interface MapField extends FieldBase {
  kind: 'map';
  maxItems?: number;
}

/** The discriminator lives at `${path}/${discriminator}`, the chosen body's fields under `${path}/${variant.key}`. */
export interface VariantsField extends FieldBase {
  kind: 'variants';
  discriminator: string;
  /** The one that a new connector begins with. */
  initial?: string | undefined;
  variants: { value: string; label: string; help?: string; fields: Field[] }[];
}

/** One secret. Its control lives in a shadow root of its own (`view/secret-control.ts`). */
export interface SecretField extends FieldBase {
  kind: 'secret';
  /** `map`: rows of name and secret value (cells as in `MapField`), one secret in all. */
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

/** What is known of a secret that the service keeps. */
export interface KeptSecret {
  id: string;
  name?: string;
  /** RFC 3339. */
  updatedAt: string;
}

/**
 * A secret as the form sees it:
 * `empty` never set; `kept` the service has it; `typing` a new value is being entered (`replaces` when a kept one stands behind
 * it; `again` when its destination changed, so that there is no way back to it); `cleared` will be removed on save; `reentry` kept, but the destination changed, so it must be entered again.
 */
export type SecretState =
  | { state: 'empty' }
  | { state: 'kept'; kept: KeptSecret }
  | { state: 'typing'; replaces?: KeptSecret; again?: boolean }
  | { state: 'cleared'; kept: KeptSecret }
  | { state: 'reentry'; kept: KeptSecret };
