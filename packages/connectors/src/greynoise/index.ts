import {
  isRecord,
  type ConnectorCode,
  type CreateEnrichment,
  type Enrichment,
  type EnrichmentResult,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure as testFailure, unexpected as unexpectedInTest } from '../_shared/connection-test/failures.js';
import { missing, passed } from '../_shared/connection-test/outcome.js';
import { readIp } from '../_shared/lookup/read-ip.js';
import { found, readCommon, stringAt } from '../_shared/lookup/settings.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { at, json, text } from '../_shared/read.js';
import { createHttpLookups } from '../http-lookup/lookups.js';
import { getJson, requestHeaders } from '../http-lookup/request.js';

const PRODUCT = 'GreyNoise';
const ORIGIN = 'https://api.greynoise.io';
/** The Community API allows few requests, and its data changes daily. */
const CACHE_MS = 3_600_000;

/**
 * Looks up IPv4 addresses with the Community API of GreyNoise. Only public addresses are sent.
 * https://docs.greynoise.io/reference/getcommunityip
 */
const createCommunity: CreateEnrichment = ({ settings, secrets }, { egress, clock }): Enrichment => {
  const common = readCommon(settings, { join: 'ip_address_path', destination: 'destination_path' });
  const headers = requestHeaders([['key', text(secrets, 'api_key') ?? '']]);

  async function request(key: string, signal: AbortSignal): Promise<EnrichmentResult> {
    const address = readIp(key);
    if (address?.kind() !== 'ipv4' || address.range() !== 'unicast') return common.unmatched;
    const url = `${ORIGIN}/v3/community/${address.toString()}`;
    const response = await getJson(egress, url, PRODUCT, { headers, signal });
    const { status, body } = response;
    if (status === 404 || status === 400) return common.unmatched;
    if (status !== 200) throw statusFailure(response, PRODUCT, clock.now());
    if (!isRecord(body)) throw unexpected(PRODUCT);
    return found(body);
  }

  const limited: EnrichmentResult =
    at(settings, 'error_on_rate_limit') === true
      ? { rejected: 'rate_limited' }
      : { code: 'rate_limited', message: 'rate limit reached', data: stringAt(settings, 'rate_limit_response') };
  return {
    ...common,
    cacheMs: CACHE_MS,
    // https://docs.greynoise.io/reference/getcommunityip
    example: {
      ip: '1.2.3.4',
      noise: false,
      riot: true,
      classification: 'benign',
      name: 'Cloudflare',
      link: 'https://viz.greynoise.io/riot/1.2.3.4',
      last_seen: '2020-01-01',
      message: 'Success',
    },
    lookUp: createHttpLookups({ clock, limited, request }),
  };
};

const subject = { product: PRODUCT, credential: '/secrets/api_key' };

/** Requests the status of the API, which takes nothing from the quota of lookups. */
const testCommunity = createTester(subject, async ({ secrets }, { egress }) => {
  const key = text(secrets, 'api_key');
  if (key === undefined) return missing('/secrets/api_key', 'Enter an API key.');
  const response = await egress.fetch(`${ORIGIN}/ping`, { headers: { key, accept: 'application/json' } });
  if (response.status !== 200) return testFailure(response.status, subject);
  return text(await json(response), 'message') === undefined
    ? unexpectedInTest(subject)
    : passed('GreyNoise accepted the API key');
});

export const greynoiseCommunityEnrichment: ConnectorCode = {
  createEnrichment: createCommunity,
  testConnection: testCommunity,
};
