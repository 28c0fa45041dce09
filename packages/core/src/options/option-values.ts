import type { ConnectorFrameError } from '../connector-frame-error.js';

/**
 * Catalog of a connector: `input` for data sources, `output` for destinations, `enrichment` for
 * lookups that add to records.
 */
export type ComponentKind = 'input' | 'output' | 'enrichment';

/** Theming tokens as CSS values. All are optional and applied once, when the form mounts. */
export interface Appearance {
  /** Primary buttons and focus rings. A color: hex, rgb(), hsl(), oklch() or a name. */
  colorPrimary?: string;
  /** Body text. Muted and faint shades are derived from it. */
  colorText?: string;
  /** Background of the form. */
  colorBackground?: string;
  /** Borders of controls and sections. */
  colorBorder?: string;
  /** A font stack, for example `"Inter", system-ui, sans-serif`. */
  fontFamily?: string;
  /** Corner radius: a number with a unit, for example `10px`. */
  borderRadius?: string;
}

/**
 * Replaces the texts of one field. Plain text, never markup. An empty `name` is ignored; an empty
 * `description` or `placeholder` removes the default text.
 */
export interface FieldMetaOverride {
  name?: string;
  description?: string;
  placeholder?: string;
  /** Overrides for the fields of an object or of a list's entries. */
  children?: Record<string, FieldMetaOverride>;
  /** Overrides for a choice between variants, and for each variant. */
  discriminator?: DiscriminatorMetaOverride;
}

/** Replaces the texts of a choice between variants, by the rules of {@link FieldMetaOverride}. */
export interface DiscriminatorMetaOverride {
  name?: string;
  description?: string;
  /** Overrides for each variant, by its value. */
  one_of?: Record<string, FieldMetaOverride>;
}

/**
 * Texts for the fields of a connector type, by field key. The form logs unknown keys once to the
 * frame's console.
 */
export interface ConfigMetaOverrides {
  settings?: Record<string, FieldMetaOverride>;
  secrets?: Record<string, FieldMetaOverride>;
}

/** A connector that the form has saved. */
export interface SavedConnector {
  id: string;
  name?: string | undefined;
}

/** Result of `fetchSession`: the response of the host's session route, in camelCase. */
export interface ConnectorFrameSession {
  sessionToken: string;
  /** Required unless the option `organizationId` is set. */
  organizationId?: string | undefined;
  /** Expiry time in RFC 3339 format. */
  expiresAt?: string | undefined;
}

/** Requests a session. Called again whenever the form needs a new one. */
export type FetchSession = () => Promise<ConnectorFrameSession>;

/** Handles a failure. `message` is `error.message`. */
export type ErrorHandler = (message: string, error: ConnectorFrameError) => void;
