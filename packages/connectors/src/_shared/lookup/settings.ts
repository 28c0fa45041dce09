import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  parseKeyPath,
  type ConnectorContext,
  type Enrichment,
  type EnrichmentData,
  type EnrichmentResult,
  type JsonValue,
  type KeyPath,
} from '@connector-frame/engine/connector-api';
import { at, text } from '../read.js';

type Settings = ConnectorConfig['settings'];

/** What lookups in files need. */
export type FileContext = Pick<ConnectorContext, 'clock' | 'lookupFolders'>;

/** Names of the settings with the paths, which the public API calls differently for each type. */
export interface PathNames {
  join: string;
  destination: string;
}

const NOT_FOUND = 'key_not_found';

/**
 * Reads what all enrichments have in common.
 * @throws {ConnectorError} `invalid_config`
 */
export function readCommon(
  settings: Settings,
  names: PathNames,
): Pick<Enrichment, 'joinPath' | 'destination' | 'omitMetadata' | 'unmatched'> {
  return {
    joinPath: pathAt(settings, names.join),
    destination: pathAt(settings, names.destination),
    omitMetadata: at(settings, 'omit_metadata') === true,
    unmatched: unmatchedBy(settings, NOT_FOUND, 'key not found'),
  };
}

/** Returns the result of a record without a match, for a reason. */
export function unmatchedBy(settings: Settings, code: string, message: string): EnrichmentResult {
  if (at(settings, 'error_on_missing_key') === true) return { rejected: code };
  return { code, message, data: stringAt(settings, 'no_match_response') };
}

/** Returns the result of a key that was found. */
export const found = (data: JsonValue, bytes?: number): EnrichmentData => ({
  code: 'success',
  message: 'key found',
  data,
  ...(bytes !== undefined && { bytes }),
});

/** Returns a text as it was entered, or null. */
export function stringAt(settings: Settings, key: string): string | null {
  const value = at(settings, key);
  return typeof value === 'string' ? value : null;
}

/**
 * Reads a path.
 * @throws {ConnectorError} `invalid_config`
 */
export function pathAt(settings: Settings, key: string): KeyPath {
  const path = parseKeyPath(text(settings, key) ?? '');
  if (path) return path;
  throw invalidLookup(`${key} is no path: keys separated by dots, at most 20.`);
}

export const invalidLookup = (message: string): ConnectorError =>
  new ConnectorError('invalid_config', message, 'permanent');
