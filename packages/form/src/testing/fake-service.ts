/**
 * An in-memory service that responds as `wire.md` specifies. It replaces the network, not code of
 * the form.
 */
export interface Call {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

type QueuedResponse = Response | Error | undefined | Promise<Response | undefined>;

export interface FakeService {
  fetch: typeof fetch;
  calls: Call[];
  /**
   * Queued responses, used before `otherwise`. An `Error` simulates a missing response; `undefined`
   * delegates to `otherwise`, a promise once it resolves.
   */
  next: QueuedResponse[];
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

/** Creates an error response in the service's format. */
export const errorResponse = (
  status: number,
  error_type: string,
  additional_details?: object,
  headers?: Record<string, string>,
): Response =>
  json({ error: `Rejected: ${error_type}`, error_type, code: status, additional_details }, status, headers);

export function fakeService(otherwise: (call: Call) => Response): FakeService {
  const calls: Call[] = [];
  const next: QueuedResponse[] = [];
  return {
    calls,
    next,
    async fetch(input, init = {}) {
      const call: Call = {
        method: init.method ?? 'GET',
        path: input instanceof Request ? input.url : `${input}`,
        headers: new Headers(init.headers),
        body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      };
      calls.push(call);
      const response = await next.shift();
      if (response instanceof Error) throw response;
      return response ?? otherwise(call);
    },
  };
}
