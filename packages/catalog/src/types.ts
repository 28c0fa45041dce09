/** The data format of the catalog: what a type file says, and what the service serves. */
import type { PollDefinition } from './poll.js';

export type * from './poll.js';

/** `input` brings data in, `output` delivers it. */
export type ConnectorKind = 'input' | 'output';

/**
 * Shown (and, with `required`, asked for) only while the field at `path` holds one of the values in `in`.
 * `path` is a JSON Pointer from the config: `/settings/auth_type`.
 */
export interface Condition {
  path: string;
  in: readonly (string | number | boolean)[];
  /** Holds too, all of them: the conditions of the field at `path`, where that one may be hidden itself. */
  and?: readonly Pick<Condition, 'path' | 'in'>[];
  /** Required while shown. Such a field is absent from its parent's `required`. */
  required?: boolean;
}

/** Words every field may carry, beside JSON Schema's own. */
interface Annotations {
  /** Label. */
  title?: string;
  /** Help, one or two sentences: where in the vendor's console the value is found. */
  description?: string;
  /** `examples[0]` is the placeholder. */
  examples?: readonly string[];
  deprecated?: boolean;
  /** Folded under "Advanced". */
  'x-advanced'?: boolean;
  /**
   * This value decides where the secrets of the connector are sent; changing it asks for them again. On a secret, as a
   * connection string is one: a new value asks for the other secrets.
   */
  'x-destination'?: boolean;
  /**
   * This value decides how the secrets of the connector are protected on their way: TLS, certificate checks, sign-in
   * mechanism. Like `x-destination`, changing it asks for them again; unlike it, it is no address to show to a person.
   */
  'x-transport'?: boolean;
  'x-when'?: Condition;
  /** `synthetic-toggle`: shown only when the host asks for synthetic data. */
  'x-role'?: 'synthetic-toggle';
}

/** Formats the form has a control for and the validator checks. */
export type StringFormat =
  | 'uri' // absolute http(s) address
  | 'hostname' // host without scheme, path or port
  | 'host-port' // host with optional port
  | 'email'
  | 'date-time' // RFC 3339 with zone
  | 'cron' // five fields
  | 'multiline'
  | 'json' // a JSON document, pasted or picked from disk
  | 'pem'; // a PEM block, pasted or picked from disk

export interface StringSchema extends Annotations {
  type: 'string';
  format?: StringFormat;
  minLength?: number;
  maxLength?: number;
  /** Linear-time regular expression, anchored, `u` flag. */
  pattern?: string;
  /** Said when `pattern` or `format` does not match: what to do, in the field's own words. */
  'x-message'?: string;
  enum?: readonly string[];
  /** Labels of the `enum` values. */
  'x-labels'?: Readonly<Record<string, string>>;
  default?: string;
  /** A secret. Only in `config.secrets`, at its top level. */
  writeOnly?: true;
}

export interface NumberSchema extends Annotations {
  type: 'integer' | 'number';
  minimum?: number;
  maximum?: number;
  default?: number;
  /** Unit shown beside the control: `seconds`, `MB`. */
  'x-unit'?: string;
}

export interface BooleanSchema extends Annotations {
  type: 'boolean';
  default?: boolean;
}

/** List of strings, or list of flat objects. */
export interface ArraySchema extends Annotations {
  type: 'array';
  items: StringSchema | ObjectSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

/** Nested object. */
export interface ObjectSchema extends Annotations {
  type: 'object';
  properties: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  additionalProperties: false;
}

/** Key/value map of strings; `writeOnly` makes the whole map one secret. */
export interface MapSchema extends Annotations {
  type: 'object';
  additionalProperties: StringSchema;
  maxProperties?: number;
  writeOnly?: true;
}

/**
 * One branch of a union: the discriminator's `const`, and one sibling object that holds its fields (absent when it has none).
 * The object's key is the discriminator's value unless a service calls it otherwise: `{ Format: 'delimited', delimited_format: {} }`.
 */
export interface VariantSchema {
  title: string;
  description?: string;
  properties: Readonly<Record<string, { const: string } | ObjectSchema>>;
  required: readonly string[];
  additionalProperties: false;
}

/** `{ type: "webhook", webhook: { ... } }`: the discriminator is the one property that is a `const` in every branch. */
export interface UnionSchema extends Annotations {
  type: 'object';
  oneOf: readonly VariantSchema[];
  /** Discriminator value chosen at first. */
  default?: string;
}

export type FieldSchema =
  StringSchema | NumberSchema | BooleanSchema | ArraySchema | ObjectSchema | MapSchema | UnionSchema;

/** What a secret may be: a string, or a map of strings. Both carry `writeOnly: true`. */
export type SecretSchema = (StringSchema | MapSchema) & { writeOnly: true };

export interface SettingsSchema extends ObjectSchema {
  $schema?: string;
}

export interface SecretsSchema {
  $schema?: string;
  type: 'object';
  properties: Readonly<Record<string, SecretSchema>>;
  required?: readonly string[];
  additionalProperties: false;
}

/** The part of a type that a form and a validator need. */
export interface ConnectorConfigSchema {
  settings: SettingsSchema;
  secrets: SecretsSchema;
}

/** What the fields of a type were taken from, from the surest down. */
export type Evidence =
  | 'openapi'
  | 'docs'
  | 'connector-spec'
  | 'connector-manifest'
  | 'component-reference'
  | 'package-manifest'
  | 'adapter-config-struct'
  | 'vendor-api-convention'
  | 'recall-unverified';

/** One connector type, as a data file holds it and the catalog serves it (references resolved). */
export interface ConnectorTypeData {
  type_id: string;
  kind: ConnectorKind;
  name: string;
  /** One plain sentence of what it brings or where it delivers. */
  description: string;
  category: string;
  vendor: string;
  in_beta?: boolean;
  version: string;
  evidence: Evidence;
  /**
   * Host the secrets are sent to when no setting decides it: `api.github.com`. A type with secrets has this, or a field
   * marked `x-destination`, or both.
   */
  fixed_destination?: string;
  /** Key in `icons.json`, and name of the SVG, shared by all types of the vendor; absent: a monogram is shown. */
  icon?: string;
  /** JSON Pointers (`/settings/host`, `/secrets/password`) in the order shown; what is absent follows: required settings, secrets, optional settings. */
  order?: readonly string[];
  config: ConnectorConfigSchema;
  /** How the type is read over its vendor's HTTP API, for inputs that need no code. Not served to browsers. */
  poll?: PollDefinition;
}

/** A configuration as a person fills it in. Secrets here are plain values; a kept secret is absent. */
export interface ConnectorConfig {
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
}

export type IssueCode =
  | 'required'
  | 'type'
  | 'min_length'
  | 'max_length'
  | 'pattern'
  | 'format'
  | 'enum'
  | 'minimum'
  | 'maximum'
  | 'min_items'
  | 'max_items'
  | 'unique_items'
  | 'unknown_property'
  | 'too_deep'
  | 'masked';

/** One thing wrong with a configuration. Never holds the value. */
export interface Issue {
  /** JSON Pointer from the config: `/settings/headers/0/name`. */
  path: string;
  code: IssueCode;
  /**
   * The bound or format that was not met, for the sentence: `{ minimum: 1 }`, `{ maxLength: 64 }`, `{ minItems: 1 }`,
   * `{ type: 'integer' }`, `{ format: 'hostname', found: 'url' }`. `found` is one of the words listed in `validate/formats.ts`.
   */
  params?: Readonly<Record<string, string | number>>;
  /** The type's own words for it (`x-message`). */
  message?: string;
}
