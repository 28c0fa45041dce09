/** Data format of the catalog: the content of a type file, and what the service serves. */
import type { AwsObjectsDefinition } from './aws-objects.js';
import type { DeliveryDefinition } from './delivery.js';
import type { OAuthDefinition } from './oauth.js';
import type { PollDefinition } from './poll.js';
import type { ReceiveDefinition } from './receive.js';
import type { SetupDefinition } from './setup.js';

export type * from './aws-objects.js';
export type * from './delivery.js';
export type * from './poll-pages.js';
export type * from './poll-steps.js';
export type * from './oauth.js';
export type * from './poll-request.js';
export type * from './poll-values.js';
export type * from './poll-responses.js';
export type * from './poll.js';
export type * from './receive.js';
export type * from './setup.js';
export type * from './poll-authentication.js';

/** `input` reads data, `output` delivers it, `enrichment` adds what it looks up to records. */
export type ConnectorKind = 'input' | 'output' | 'enrichment';

/**
 * Shows a field (and, with `required`, requires it) only while the field at `path` holds one of the
 * values in `in`. `path` is a JSON Pointer from the config: `/settings/auth_type`.
 */
export interface Condition {
  path: string;
  in: readonly (string | number | boolean)[];
  /**
   * Further conditions that must all hold: those of the field at `path`, if it may itself be
   * hidden.
   */
  and?: readonly Pick<Condition, 'path' | 'in'>[];
  /** Required while shown. Such a field is not listed in its parent's `required`. */
  required?: boolean;
}

/** Annotations that every field may carry, in addition to JSON Schema's own keywords. */
interface Annotations {
  /** Label. */
  title?: string;
  /** Help text of one or two sentences: where in the vendor's console the value is found. */
  description?: string;
  /** `examples[0]` is the placeholder. */
  examples?: readonly string[];
  deprecated?: boolean;
  /** Shown in the collapsed "Advanced" section. */
  'x-advanced'?: boolean;
  /**
   * The value decides where the secrets of the connector are sent. A change requires entering them
   * again. On a secret, such as a connection string, a new value requires entering the other
   * secrets again.
   */
  'x-destination'?: boolean;
  /**
   * The value decides how the secrets of the connector are protected in transit: TLS, certificate
   * checks, sign-in mechanism. As with `x-destination`, a change requires entering them again;
   * unlike it, the value is not an address to show to a user.
   */
  'x-transport'?: boolean;
  'x-when'?: Condition;
  /** `synthetic-toggle`: shown only when the host asks for synthetic data. */
  'x-role'?: 'synthetic-toggle';
}

/** Formats that the form has a control for and the validator checks. */
export type StringFormat =
  | 'uri' // absolute http(s) URL
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
  /**
   * Message for a value that does not match `pattern` or `format`: what to do, in terms of the
   * field.
   */
  'x-message'?: string;
  enum?: readonly string[];
  /** Labels of the `enum` values. */
  'x-labels'?: Readonly<Record<string, string>>;
  default?: string;
  /** A secret. Only in `config.secrets`, at its top level. */
  writeOnly?: true;
  /**
   * A secret that the service only compares with what senders present, or uses as the key of its
   * certificate. The form says that it is never sent. Only in `config.secrets`.
   */
  'x-local'?: boolean;
  /**
   * A secret that takes a private key: a public key or a certificate is rejected. `plain` also
   * rejects an encrypted key, for a type that has no field for its password.
   */
  'x-private-key'?: 'plain' | 'encrypted';
  /**
   * The value is the id of an output of this type, in the same organization. The output can't be
   * deleted while a connector names it. Only in `config.settings`, at its top level.
   */
  'x-output'?: string;
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

/** A list of strings, or a list of flat objects. */
export interface ArraySchema extends Annotations {
  type: 'array';
  items: StringSchema | ObjectSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

/** A nested object. */
export interface ObjectSchema extends Annotations {
  type: 'object';
  properties: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  additionalProperties: false;
}

/** A key/value map of strings. `writeOnly` makes the whole map one secret. */
export interface MapSchema extends Annotations {
  type: 'object';
  additionalProperties: StringSchema;
  maxProperties?: number;
  writeOnly?: true;
}

/**
 * One branch of a union: the discriminator's `const`, and one sibling object that holds its fields
 * (absent if it has none). The key of the object equals the discriminator's value, unless a service
 * names it differently: `{ Format: 'delimited', delimited_format: {} }`.
 */
export interface VariantSchema {
  title: string;
  description?: string;
  properties: Readonly<Record<string, { const: string } | ObjectSchema>>;
  required: readonly string[];
  additionalProperties: false;
}

/**
 * `{ type: "webhook", webhook: { ... } }`: the discriminator is the one property that is a `const`
 * in every branch.
 */
export interface UnionSchema extends Annotations {
  type: 'object';
  oneOf: readonly VariantSchema[];
  /** Initial discriminator value. */
  default?: string;
}

export type FieldSchema =
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | ArraySchema
  | ObjectSchema
  | MapSchema
  | UnionSchema;

/** A secret: a string, or a map of strings. Both carry `writeOnly: true`. */
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

/** Source of the field definitions of a type, from the most to the least reliable. */
export type Evidence =
  | 'openapi'
  | 'docs'
  | 'connector-spec'
  | 'connector-manifest'
  | 'component-reference'
  | 'package-manifest'
  | 'adapter-config-struct'
  | 'vendor-api-convention'
  | 'recall-unverified'
  /** The type is this project's own. */
  | 'own';

/**
 * Why no release will run a type: its records can only be read by an agent on the host (`agent`), its
 * protocol is not public (`proprietary`), or the vendor has withdrawn the API (`withdrawn`).
 */
export type UnavailableReason = 'agent' | 'proprietary' | 'withdrawn';

/**
 * A connector type as defined in a data file and served by the catalog, with references resolved.
 */
export interface ConnectorTypeData {
  type_id: string;
  kind: ConnectorKind;
  name: string;
  /** One plain sentence: what it reads, or where it delivers. */
  description: string;
  category: string;
  vendor: string;
  /**
   * Other names that people search for: `gsuite`, `azure ad`. The build adds those of the vendor
   * (`vendor-aliases.json`), and the vendor's name if `name` does not contain it.
   */
  aliases?: readonly string[];
  /** Set on a type that will never run. A type without a runtime and without this may run later. */
  unavailable?: { reason: UnavailableReason };
  in_beta?: boolean;
  version: string;
  evidence: Evidence;
  /**
   * Host that the secrets are sent to if no setting decides it: `api.github.com`. A type with
   * secrets has this, a field marked `x-destination`, or both.
   */
  fixed_destination?: string;
  /**
   * Key in `icons.json` and name of the SVG, shared by all types of the vendor. Absent: a monogram
   * is shown.
   */
  icon?: string;
  /**
   * JSON Pointers (`/settings/host`, `/secrets/password`) in display order. Fields that are not
   * listed follow: required settings, secrets, optional settings.
   */
  order?: readonly string[];
  config: ConnectorConfigSchema;
  /**
   * Polling definition for the vendor's HTTP API, for inputs that need no code. Not served to
   * browsers.
   */
  poll?: PollDefinition;
  /** How an input reads objects of Amazon S3, without code. Not served to browsers. */
  aws_objects?: AwsObjectsDefinition;
  /**
   * How a customer can give access instead of pasting a secret. Browsers get only the provider's
   * name and the secret's name.
   */
  oauth?: OAuthDefinition;
  /**
   * Delivery definition for the vendor's HTTP API, for outputs that need no code. Not served to
   * browsers.
   */
  delivery?: DeliveryDefinition;
  /**
   * How requests of the vendor are received, for inputs that need no code. Not served to browsers.
   */
  receive?: ReceiveDefinition;
  /** What a customer has to set up at the vendor, shown in the form to be copied. */
  setup?: SetupDefinition;
}

/**
 * A configuration as entered by a user. Secrets are plain values here; a stored secret that is kept
 * is absent.
 */
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

/** A problem with a configuration. Never contains the value. */
export interface Issue {
  /** JSON Pointer from the config: `/settings/headers/0/name`. */
  path: string;
  code: IssueCode;
  /**
   * The bound or format that was not met, for use in a message: `{ minimum: 1 }`, `{ maxLength: 64
   * }`, `{ minItems: 1 }`, `{ type: 'integer' }`, `{ format: 'hostname', found: 'url' }`. `found`
   * is one of the codes listed in `validate/formats.ts` and `validate/private-key.ts`.
   */
  params?: Readonly<Record<string, string | number>>;
  /** Message defined by the type (`x-message`). */
  message?: string;
}
