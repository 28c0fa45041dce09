import type { ConnectorConfig, PollSingleAuthentication } from '@connector-frame/catalog/types';
import { RequestError, systemClock, type ReceiverContext } from '@connector-frame/engine/connector-api';
import { createApiAuthentication } from '../_shared/api/api-client.js';
import { isDownload, redirectTarget } from '../_shared/poll/download.js';
import { at } from '../_shared/read.js';

export interface WorkflowRun {
  /** `owner/name`. */
  repository: string;
  id: number;
  attempt: number;
  workflow: string | undefined;
  conclusion: string | undefined;
  branch: string | undefined;
  commit: string | undefined;
  actor: string | undefined;
}

const API = new URL('https://api.github.com');
/** Hosts of the files that GitHub redirects to. Credentials are not sent there. */
const FILES = ['actions.githubusercontent.com', 'blob.core.windows.net'];
const MAX_ARCHIVE = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const subject = { product: 'GitHub', credential: '/secrets/token' };

const methodOf = (config: ConnectorConfig): PollSingleAuthentication =>
  at(config, 'settings', 'auth_config', 'type') === 'github_app'
    ? {
        kind: 'github_app',
        app_id: '/settings/auth_config/github_app/client_id',
        installation_id: '/settings/auth_config/github_app/installation_id',
        key: '/secrets/private_key',
      }
    : { kind: 'bearer', secret: '/secrets/token' };

/**
 * Returns a function that downloads the logs of a run, a zip archive:
 * https://docs.github.com/en/rest/actions/workflow-runs#download-workflow-run-attempt-logs
 * @throws RequestError 503, so that the delivery shows as failed
 */
export function createFetchLogs(
  config: ConnectorConfig,
  { egress, clock }: ReceiverContext,
): (run: WorkflowRun) => Promise<Buffer> {
  const options = { subject, egress, clock: { ...systemClock, now: () => clock.now() }, base: API };
  const authentication = createApiAuthentication(methodOf(config), config, options);

  async function locate({ repository, id, attempt }: WorkflowRun, signal: AbortSignal): Promise<URL> {
    const url = new URL(`/repos/${repository}/actions/runs/${id}/attempts/${attempt}/logs`, API);
    for (let renewed = false; ; renewed = true) {
      const headers = new Headers({ accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' });
      const outgoing = { method: 'GET', url: new URL(url), headers };
      await authentication.sign(outgoing, signal);
      const response = await egress.fetch(outgoing.url, { headers, redirect: 'manual', discardBody: true, signal });
      if (!renewed && authentication.renew(response)) continue;
      const target = redirectTarget(response, url);
      if (target && isDownload(target, FILES)) return target;
      throw failed(reasons[response.status] ?? 'GitHub did not say where they are');
    }
  }

  return async (run) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const file = await egress.fetch(await locate(run, signal), { signal, maxBytes: MAX_ARCHIVE });
      if (file.status !== 200) throw failed('GitHub did not hand them out');
      return Buffer.from(await file.arrayBuffer());
    } catch (error) {
      throw error instanceof RequestError ? error : failed('GitHub could not be reached, or they are too large');
    }
  };
}

const reasons: Readonly<Record<number, string>> = {
  401: 'GitHub did not accept the token',
  403: 'the token is not allowed to read Actions of this repository, or has sent too many requests',
  404: 'the token is not allowed to read Actions of this repository, or they were deleted',
  410: 'they were deleted',
};

const failed = (why: string): RequestError =>
  new RequestError(503, `The logs of this run were not fetched: ${why}. Redeliver this event later.`);
