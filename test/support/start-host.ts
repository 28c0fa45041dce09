import { vi } from 'vitest';
import { createHost, type Host, type HostOptions } from '@connector-frame/host';
import { startUpstream, usualAnswers, type Answers } from './upstream.js';

const teams: Record<string, string> = { acme: 'org-acme', globex: 'org-globex' };

/**
 * Starts a host in front of a scripted upstream. The header `x-signed-in` names the signed-in
 * tenant.
 */
export async function startHost(answers: Answers = usualAnswers) {
  const upstream = await startUpstream(answers);
  const onError = vi.fn<(error: unknown) => void>();
  const create = (options: Partial<HostOptions> = {}): Host =>
    createHost({
      serviceUrl: upstream.origin,
      apiKey: 'key-1',
      authorizeTenant: (request, tenantId) =>
        request.headers.get('x-signed-in') === tenantId ? teams[tenantId] : null,
      onError,
      ...options,
    });
  return { ...upstream, onError, create };
}

export function get(path: string): Request {
  return new Request(`https://product.example${path}`, { headers: { 'x-signed-in': 'acme' } });
}

/** Creates a write request as a same-origin page sends it; a string body is sent unchanged. */
export function post(path: string, body: unknown): Request {
  return new Request(`https://product.example${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-signed-in': 'acme' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Returns the status and error code of a response; the code of a success is undefined. */
export async function outcome(answer: Promise<Response>): Promise<[status: number, code: unknown]> {
  const response = await answer;
  const body: { code?: unknown } = await response.json();
  return [response.status, body.code];
}
