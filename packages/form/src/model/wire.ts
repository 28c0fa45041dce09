/** Responses and requests of the service, with the properties that the form uses. */
import type { ConnectorTypeData, SetupDefinition } from '@connector-frame/catalog/types';

/** GET `/v1/{kind}s/{type_id}`. */
export interface ConnectorType extends Pick<
  ConnectorTypeData,
  'type_id' | 'name' | 'description' | 'vendor' | 'order' | 'config' | 'fixed_destination'
> {
  /** Present if the vendor lets customers connect an account; the service may have no client there. */
  oauth?: { name: string; secret: string };
  /** `runtime` is absent in services that don't report it. */
  supported_features: { test_connection: boolean; runtime?: boolean };
  /** Present if `runtime` is false. */
  unavailable?: { reason: string };
  /** What the customer has to set up at the vendor. */
  setup?: Setup;
  /** Data URI of the vendor's SVG. */
  icon: string | null;
}

export type Setup = Omit<SetupDefinition, 'documentation'>;

/** GET `/v1/{org}/aws`. */
export interface AwsTrust {
  external_id: string;
  /** `null`: the service has no identity at AWS. */
  account_id: string | null;
  trust_policy: object | null;
  partition: string | null;
  /** CloudFormation template. */
  role_template: { Parameters: Record<string, object> };
  /** `null`: the operator has put it nowhere. */
  role_template_url: string | null;
}

/** GET `/v1/{org}/{kind}s/{id}`, and the response to a write. */
export interface Connector {
  id: string;
  name: string;
  description: string;
  type: string;
  config: {
    settings: Record<string, unknown>;
    /** Metadata of each stored secret, never its value. */
    secrets: Record<
      string,
      {
        id: string;
        name?: string;
        updated_at: string;
        account?: { status: 'connected' | 'needs_reauth'; name: string | null };
      }
    >;
  };
  created_at: string;
  version: number;
  /** Present if records are sent to the connector. */
  ingest?: { url: string };
}

/** A secret in a write: a new value, a connected account, or `null` to clear. An absent secret is kept. */
export type SecretWrite = { value: unknown } | { consent: string } | null;

/** A whole configuration: all settings, and the secrets that change. */
export interface ConfigWrite {
  settings: Record<string, unknown>;
  secrets: Record<string, SecretWrite>;
}

/** Name, description and configuration as entered in the form. */
export interface NewConnector {
  name: string;
  description: string;
  config: ConfigWrite;
}

/** POST sends all properties, PATCH only the changed ones. */
export interface ConnectorWrite extends Partial<Omit<NewConnector, 'config'>> {
  type?: string;
  config?: Partial<ConfigWrite>;
}
