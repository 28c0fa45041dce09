import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { isRecord } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';

/** A header. */
type Row = readonly [name: string, value: string];

/** Request parameters from the connector's configuration. */
export interface HttpRequest {
  endpoint: string | undefined;
  method: string;
  /** Headers from the settings, then those from the secrets, which take precedence. */
  headers: { open: readonly Row[]; secret: readonly Row[] };
  structure: 'array' | 'wrapped' | 'single';
  /** Key of the array in a wrapped body. */
  wrapperKey: string;
  verifyTls: boolean;
}

export function readRequest({ settings, secrets }: Pick<ConnectorConfig, 'settings' | 'secrets'>): HttpRequest {
  const structure = at(settings, 'payload_structure');
  return {
    endpoint: text(settings, 'endpoint'),
    method: text(settings, 'method') ?? 'POST',
    headers: { open: openHeaders(settings), secret: secretHeaders(secrets) },
    structure: structure === 'array' || structure === 'wrapped' ? structure : 'single',
    wrapperKey: text(settings, 'wrapper_key') ?? 'records',
    verifyTls: at(settings, 'tls_skip_verify') !== true,
  };
}

/** Returns the headers of the settings. */
export function openHeaders(settings: ConnectorConfig['settings']): Row[] {
  const rows = at(settings, 'headers');
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown): Row[] => {
    const name = text(row, 'header_key');
    return name === undefined ? [] : [[name, text(row, 'header_value') ?? '']];
  });
}

/** Returns the headers of the secrets. */
export function secretHeaders(secrets: ConnectorConfig['secrets']): Row[] {
  const value = at(secrets, 'auth_headers');
  if (!isRecord(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
