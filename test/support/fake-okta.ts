import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate } from './certificate.js';
import { startVendor, type Received, type Reply } from './vendor.js';

export interface OktaHit {
  method: string;
  url: string;
  /** The Authorization header as received. */
  authorization: string | undefined;
  /** Status of the response. */
  status: number;
}

export interface FakeOkta {
  /** `https://127.0.0.1:5555`, which a user types as the organization URL. */
  url: string;
  /** Certificate authority to trust, as PEM text, and as a file for `NODE_EXTRA_CA_CERTS`. */
  ca: string;
  caFile: string;
  /** Every request so far, oldest first. */
  hits: readonly OktaHit[];
  /** Sets the response to the next request, whatever it requests. */
  answer(reply: Reply): void;
  close(): Promise<void>;
}

/**
 * Starts an HTTPS server that serves the System Log of an Okta organization as Okta documents it.
 */
export async function startFakeOkta({ token }: { token: string }): Promise<FakeOkta> {
  const certificate = createCertificate('127.0.0.1', 'localhost');
  const folder = mkdtempSync(join(tmpdir(), 'fake-okta-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
  const hits: OktaHit[] = [];
  const queued: Reply[] = [];
  const server = await startVendor((request) => {
    const reply = queued.shift() ?? respond(request, token);
    const { method, url, headers } = request;
    hits.push({ method, url, authorization: headers.authorization, status: reply.status ?? 200 });
    return { ...reply, headers: { ...rateLimit(reply.status), ...reply.headers } };
  }, certificate);
  return {
    url: server.origin,
    ca: certificate.cert,
    caFile,
    hits,
    answer: (reply) => void queued.push(reply),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** https://developer.okta.com/docs/reference/error-codes/ */
function respond({ method, url, headers }: Received, token: string): Reply {
  const { pathname, searchParams } = new URL(url, 'https://acme.okta.com');
  if (headers.authorization !== `SSWS ${token}`) return problem(401, 'E0000011', 'Invalid token provided');
  if (pathname !== '/api/v1/logs') return problem(404, 'E0000007', 'Not found: Resource not found: (unknown)');
  if (method !== 'GET') return problem(405, 'E0000022', 'The endpoint does not support the provided HTTP method');
  const limit = Math.min(Number(searchParams.get('limit') ?? 100), events.length);
  return { body: events.slice(0, limit) };
}

function problem(status: number, errorCode: string, errorSummary: string): Reply {
  return {
    status,
    body: { errorCode, errorSummary, errorLink: errorCode, errorId: 'oaeHfmOAx1iRLa0H10DeMz5fQ', errorCauses: [] },
  };
}

function rateLimit(status = 200): Record<string, string> {
  const remaining = status === 429 ? '0' : '119';
  return { 'x-rate-limit-limit': '120', 'x-rate-limit-remaining': remaining, 'x-rate-limit-reset': '1767225600' };
}

const events = ['user.session.start', 'user.authentication.sso', 'policy.evaluate_sign_on'].map((eventType, index) => ({
  uuid: `f790999f-fe87-467a-9880-${String(index).padStart(12, '0')}`,
  published: `2026-01-01T00:00:0${index}.000Z`,
  eventType,
  version: '0',
  severity: 'INFO',
  displayMessage: 'User signs in to Okta',
  actor: { id: '00uttidj01jqL21aM1d6', type: 'User', alternateId: 'ada@example.com', displayName: 'Ada Lovelace' },
  outcome: { result: 'SUCCESS' },
}));
