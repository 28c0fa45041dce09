import { serve } from './serve.js';

/** One request that the upstream received. */
export interface Seen {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, unknown>;
  body: Record<string, unknown> | undefined;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** A string is sent unchanged; anything else as JSON. */
  body?: unknown;
}

/** Responses of the upstream, by `METHOD /path`. */
export type Answers = Record<string, Answer | ((seen: Seen) => Answer)>;

/** Starts a server with scripted responses that records its requests. Other calls get 404. */
export async function startUpstream(answers: Answers) {
  const seen: Seen[] = [];
  const site = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://any');
      const text = Buffer.concat(chunks).toString();
      const one: Seen = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      seen.push(one);
      const scripted = answers[`${one.method} ${one.path}`] ?? { status: 404, body: { error: 'unknown' } };
      const { status = 200, headers = {}, body } = typeof scripted === 'function' ? scripted(one) : scripted;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return { ...site, seen };
}

/** Sessions and lists as the service returns them. */
export const usualAnswers: Answers = {
  'POST /v3/sessions': ({ body }) => ({
    body: {
      session_token: 'token-1',
      expires_at: '2026-11-12T10:30:00Z',
      organizationId: body?.['organization_id'],
      ttl_seconds: 1800,
    },
  }),
  'GET /v1/inputs': {
    body: [
      {
        type_id: 'okta-systemlog',
        name: 'Okta System Log',
        description: 'Sign-ins.',
        category: 'Identity',
        icon: null,
      },
      {
        type_id: 'http',
        name: 'HTTP',
        description: 'Any API.',
        category: 'Universal',
        icon: '/external/icons/raw/http.svg',
      },
      { type_id: 's3', name: 'Amazon S3', config: { settings: {} } },
    ],
  },
  'GET /v1/outputs': { body: [{ type_id: 's3', name: 'Amazon S3', description: '', category: 'Object Storage' }] },
};
