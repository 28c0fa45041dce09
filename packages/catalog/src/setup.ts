/**
 * What a customer has to set up at the vendor before a connector works, such as a role or a public
 * key. The form shows it beside a field, filled with what the user entered, to be copied.
 */

/**
 * Text with placeholders:
 *
 * - `{{/settings/bucket}}`: a setting. In `resources`, a list setting yields one resource per row.
 * - `{{/settings/prefix:optional}}`: the same, and empty without a value
 * - `{{/settings/queue_url:queue}}`: account and name in the URL of a queue of Amazon SQS
 * - `{{/settings/account_url:account}}`: the first label of a host name
 * - `{{/secrets/key:client_email}}`, `:client_id`: a property of a Google service account key
 * - `{{/secrets/client_id:guid}}`: an ID of an application at Microsoft Entra
 * - `{{/secrets/private_key:public_key}}`: the public key of a private RSA key, as Base64
 * - `{{partition}}`: the partition of the service's account at AWS
 *
 * A value that is missing becomes `<bucket>`: the name of the field, or of the form. So does text in
 * angle brackets, which stands for what no field has.
 */
export type SetupTemplate = string;

/** What a role at AWS must allow. */
export interface AwsStatement {
  /** `s3:GetObject`. */
  actions: readonly string[];
  /** ARNs, or `*` for actions that AWS can't limit to resources. */
  resources: readonly SetupTemplate[];
}

/** A text to copy, such as a command. */
export interface SetupStep {
  /** What to do with it: "Run this in Cloud Shell". */
  title: string;
  text: SetupTemplate;
}

export interface SetupDefinition {
  /** Field below which it is shown: `/settings/role_arn`. */
  field: string;
  /** Title of the section: "Register the public key". */
  title: string;
  /** Vendor pages that it was written from. Not served to browsers. */
  documentation: readonly string[];
  /**
   * The field takes a role at AWS that the service assumes with its own identity. The form shows what
   * the role must trust, and what it must allow: at most three statements, as the CloudFormation
   * template has. None if AWS writes the policy of the role.
   */
  aws_role?: { statements?: readonly AwsStatement[] };
  /** The field takes a private RSA key, which the form can create. */
  key_pair?: true;
  steps?: readonly SetupStep[];
}
