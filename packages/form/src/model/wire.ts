/** What the service answers, as far as the form reads it. */
import type { ConnectorTypeData } from '@connector-frame/catalog/types';

/** GET `/v1/{kind}s/{type_id}`. */
export interface ConnectorType extends Pick<
  ConnectorTypeData,
  'type_id' | 'name' | 'description' | 'vendor' | 'order' | 'config' | 'fixed_destination'
> {
  supported_features: { test_connection: boolean };
  /** Data URI of the vendor's SVG. */
  icon: string | null;
}

/** GET `/v1/{org}/{kind}s/{id}`, and the answer to a write. */
export interface Connector {
  id: string;
  name: string;
  description: string;
  type: string;
  config: {
    settings: Record<string, unknown>;
    /** Never values: what is known of each kept secret. */
    secrets: Record<string, { id: string; name?: string; updated_at: string }>;
  };
  created_at: string;
  version: number;
}

/** A secret in a write: a new value, or `null` to clear. Absent keeps. */
export type SecretWrite = { value: unknown } | null;

/** A whole configuration: all settings, and the secrets that change. */
export interface ConfigWrite {
  settings: Record<string, unknown>;
  secrets: Record<string, SecretWrite>;
}

/** Name, description and configuration as they stand in the form. */
export interface NewConnector {
  name: string;
  description: string;
  config: ConfigWrite;
}

/** POST says all of it, PATCH what changed. */
export interface ConnectorWrite extends Partial<Omit<NewConnector, 'config'>> {
  type?: string;
  config?: Partial<ConfigWrite>;
}
