import {
  ConnectorFrameError,
  type ConnectorFrameErrorCode,
  type ConnectorFrameSession,
  type HostConfig,
} from '@connector-frame/core/connect';

/** For whom and what a session is asked. */
export interface SessionWish {
  tenantId: string;
  kind: string;
  typeId: string;
  connectorId?: string | undefined;
}

/** Longer than a host that works ever takes; shorter than a person waits. */
const TIMEOUT = 15_000;

/** Many forms on one page ask for the same addresses: once. */
const configs = new Map<string, Promise<HostConfig>>();

/** Where form and service are, as the host says. Rejects with a `ConnectorFrameError`, code `session_failed`. */
export function fetchHostConfig(hostUrl: string): Promise<HostConfig> {
  const address = addressOf(hostUrl, 'monad/config');
  const known = configs.get(address);
  if (known) return known;
  const asked = call('GET', address).then((read) => ({ frameOrigin: read('frameOrigin'), apiBase: read('apiBase') }));
  configs.set(address, asked);
  asked.catch(() => configs.delete(address));
  return asked;
}

/** A session of the host for one form. Rejects with a `ConnectorFrameError`, code `session_failed`. */
export async function fetchHostSession(hostUrl: string, wish: SessionWish): Promise<ConnectorFrameSession> {
  const read = await call('POST', addressOf(hostUrl, 'session'), wish);
  return {
    sessionToken: read('session_token'),
    organizationId: read('organizationId'),
    expiresAt: read('expires_at'),
  };
}

/** A path is read as the page's own links are. What is no address stays as it is, and is told of when it is asked. */
export function addressOf(hostUrl: string, route: string): string {
  const address = `${hostUrl.replace(/\/+$/, '')}/${route}`;
  return URL.canParse(address, document.baseURI) ? new URL(address, document.baseURI).href : address;
}

/** Resolves to a reader of the answer's fields, each of which is text. */
async function call(method: string, address: string, body?: object): Promise<(field: string) => string> {
  const { answer, where } = await askHost('session_failed', method, address, body);
  const fields: Partial<Record<string, unknown>> = Object(answer);
  return (field) => {
    const value = fields[field];
    if (typeof value === 'string') return value;
    throw new ConnectorFrameError('session_failed', `The server of this page gave no ${field} ${where}`);
  };
}

/**
 * Asks the page's own server. A host that says why it refuses is quoted.
 * @param code of the error when there is no answer, or a refusal
 * @returns the JSON of the answer, and the words that name the question in an error
 */
export async function askHost(
  code: ConnectorFrameErrorCode,
  method: string,
  address: string,
  body?: object,
): Promise<{ answer: unknown; where: string }> {
  const where = `(${method} ${address})`;
  const refuse = (why: string): never => {
    throw new ConnectorFrameError(code, why);
  };
  const response = await fetch(address, {
    method,
    signal: AbortSignal.timeout(TIMEOUT),
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => refuse(`The server of this page does not answer ${where}`));
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    const { message }: Partial<Record<string, unknown>> = Object(answer);
    refuse(typeof message === 'string' ? message : `The server of this page answered ${response.status} ${where}`);
  }
  return { answer, where };
}
