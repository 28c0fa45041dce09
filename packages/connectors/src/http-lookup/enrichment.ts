import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  isRecord,
  valueAt,
  type CreateEnrichment,
  type Enrichment,
  type EnrichmentResult,
  type JsonValue,
  type KeyPath,
} from '@connector-frame/engine/connector-api';
import { openHeaders, secretHeaders } from '../http/config.js';
import { found, invalidLookup, pathAt, readCommon, stringAt, unmatchedBy } from '../_shared/lookup/settings.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { at, text } from '../_shared/read.js';
import { createHttpLookups } from './lookups.js';
import { getJson, requestHeaders } from './request.js';
import { urlOf } from './url.js';

const PRODUCT = 'the API';
/** There is nothing under this key. */
const MISSING: readonly number[] = [204, 404, 410];
/** The API does not accept this key, which says nothing about others. */
const REFUSED: readonly number[] = [400, 422];

/** Looks up values at an HTTP API that returns JSON. */
export const createHttpLookup: CreateEnrichment = ({ settings, secrets }, { egress, clock }): Enrichment => {
  const url = text(settings, 'url');
  if (url === undefined) throw invalidLookup('There is no address to request.');
  const headers = headersOf({ settings, secrets });
  const dataPath = text(settings, 'data_path');
  const path = dataPath === undefined ? [] : pathAt(settings, 'data_path');
  const common = readCommon(settings, { join: 'join_path', destination: 'destination_path' });
  const refused = unmatchedBy(settings, 'key_refused', 'key refused');
  const perSecond = at(settings, 'rate_limit');
  const init = {
    headers,
    timeoutMs: numberAt(settings, 'timeout_seconds', 10) * 1_000,
    verifyTls: at(settings, 'tls_skip_verify') !== true,
  };

  async function request(key: string, signal: AbortSignal): Promise<EnrichmentResult> {
    const address = urlOf(url ?? '', key);
    if (address === undefined) return refused;
    const response = await getJson(egress, address, PRODUCT, { ...init, signal });
    const { status, body } = response;
    if (MISSING.includes(status)) return common.unmatched;
    if (REFUSED.includes(status)) return refused;
    if (status < 200 || status > 299) throw statusFailure(response, PRODUCT, clock.now());
    if (body === undefined) throw unexpected(PRODUCT);
    const data = dataIn(body, path);
    return data === undefined ? common.unmatched : found(data);
  }

  const lookUp = createHttpLookups({
    clock,
    perSecond: typeof perSecond === 'number' ? perSecond : undefined,
    limited: limitedBy(settings),
    request,
  });
  return {
    ...common,
    cacheMs: Math.max(1, numberAt(settings, 'cache_seconds', 300) * 1_000),
    example: { id: 'u-1', name: 'Ana Example' },
    lookUp,
  };
};

/**
 * Returns the headers of a configuration, those of the secrets last.
 * @throws {ConnectorError} `invalid_config`
 */
export const headersOf = ({ settings, secrets }: ConnectorConfig): Headers =>
  requestHeaders([...openHeaders(settings), ...secretHeaders(secrets)]);

/** Returns what happens to records at the rate limit; `undefined`: they wait. */
function limitedBy(settings: ConnectorConfig['settings']): EnrichmentResult | undefined {
  const mode = at(settings, 'rate_limited');
  if (mode === 'reject') return { rejected: 'rate_limited' };
  if (mode !== 'respond') return undefined;
  return { code: 'rate_limited', message: 'rate limit reached', data: stringAt(settings, 'rate_limit_response') };
}

function numberAt(settings: ConnectorConfig['settings'], key: string, fallback: number): number {
  const value = at(settings, key);
  return typeof value === 'number' ? value : fallback;
}

function dataIn(body: JsonValue, path: KeyPath): JsonValue | undefined {
  if (path.length === 0) return body;
  return isRecord(body) ? valueAt(body, path) : undefined;
}
