import { type Egress, EgressError, type TesterConfig } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, json, text } from '../_shared/read.js';

export const falcon: Subject = { product: 'CrowdStrike', credential: '/secrets/client_secret' };

/** Base address of each cloud's API, by the cloud's name. */
export type FalconClouds = ReadonlyMap<string, string>;

export const clouds: FalconClouds = new Map([
  ['us-1', 'https://api.crowdstrike.com'],
  ['us-2', 'https://api.us-2.crowdstrike.com'],
  ['eu-1', 'https://api.eu-1.crowdstrike.com'],
  ['us-gov-1', 'https://api.laggar.gcw.crowdstrike.com'],
]);

/** Autodiscovery does not cover this cloud; it must be configured explicitly. */
const SEPARATE = 'us-gov-1';

/** Statuses of the token endpoint for an unknown client. */
const REFUSED = [400, 401, 403];

/** A token, and the API that takes it. */
export interface FalconSession {
  base: string;
  token: string;
}

/** Signs in to the cloud of the configuration, or to each until one knows the client. */
export async function openFalcon(
  { settings, secrets }: TesterConfig,
  egress: Egress,
  bases: FalconClouds,
): Promise<FalconSession | Failure> {
  const clientId = text(secrets, 'client_id');
  const clientSecret = text(secrets, 'client_secret');
  if (!clientId) return missing('/secrets/client_id', 'Enter the client ID of an API client.');
  if (!clientSecret) return missing('/secrets/client_secret', 'Enter the secret of the API client.');
  const memberCid = text(settings, 'member_cid');
  const form = new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    ...(memberCid && { member_cid: memberCid }),
  });
  const named = text(settings, 'cloud') ?? 'autodiscover';
  const candidates = [...bases].filter(([cloud]) => (named === 'autodiscover' ? cloud !== SEPARATE : cloud === named));

  let response: Response | undefined;
  for (const [, base] of candidates) {
    response = await signIn(egress, base, form);
    if (response && response.status < 300) {
      const token = text(await json(response), 'access_token');
      if (!token) return unexpected(falcon);
      return { token, base: bases.get(response.headers.get('x-cs-region') ?? '') ?? base };
    }
    if (response && !REFUSED.includes(response.status)) return statusFailure(response.status, falcon);
  }
  if (!response && named !== 'autodiscover') {
    return failed('redirected', 'This API client belongs to another CrowdStrike cloud.', { at: '/settings/cloud' });
  }
  return failed('invalid_credentials', 'CrowdStrike did not accept the API client.', {
    hint: 'Check client ID, secret and cloud. The secret is shown only once, when the client is created.',
    at: ['/secrets/client_id', '/secrets/client_secret'],
  });
}

/**
 * Requests a token.
 *
 * @returns `undefined` if the cloud redirects to another one: the client belongs to that cloud
 */
async function signIn(egress: Egress, base: string, form: URLSearchParams): Promise<Response | undefined> {
  try {
    return await egress.fetch(`${base}/oauth2/token`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    });
  } catch (error) {
    if (error instanceof EgressError && error.reason === 'redirected') return undefined;
    throw error;
  }
}

/** Lists the event streams. https://www.falconpy.io/Service-Collections/Event-Streams.html */
export async function listStreams(
  egress: Egress,
  { base, token }: FalconSession,
  appName: string,
): Promise<{ streams: readonly unknown[] } | Failure> {
  const query = new URLSearchParams({ appId: appName, format: 'json' });
  const response = await egress.fetch(`${base}/sensors/entities/datafeed/v2?${query}`, {
    headers: { accept: 'application/json', authorization: `Bearer ${token}` },
  });
  if (response.status === 403) {
    return failed('forbidden', 'This API client may not read the event stream.', {
      hint: 'Give it the scope Event streams: Read.',
      at: '/secrets/client_id',
    });
  }
  if (response.status !== 200) return statusFailure(response.status, falcon);
  const streams = at(await json(response), 'resources');
  if (!Array.isArray(streams)) return unexpected(falcon);
  if (streams.length === 0) {
    return failed('not_found', 'Signed in, but there is no event stream to read.', {
      hint: 'Ask CrowdStrike support to enable the Streaming API.',
    });
  }
  return { streams };
}
