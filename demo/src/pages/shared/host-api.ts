import type {
  CatalogType,
  ComponentKind,
  ConfiguredConnector,
  ConnectorFrameSession,
  HostConfig,
  HostSession,
} from '@connector-frame/core/connect';

/** A customer of Northwind. */
export interface Tenant {
  id: string;
  name: string;
}

/** Who is signed in, and who could be: this sign-in asks for no password. */
export interface Me {
  tenant: Tenant | null;
  tenants: Tenant[];
}

/** A refusal of Northwind's own backend: `message` is for people. */
export class BackendError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const me = () => get<Me>('/demo/me');
export const signIn = (tenantId: string) => post<Me>('/demo/sign-in', { tenantId });
export const signOut = () => post<Me>('/demo/sign-out', {});

/** Addresses of form and service. */
export const config = () => get<HostConfig>('/api/monad/config');

/** What can be connected. */
export const catalog = (kind: ComponentKind) => get<CatalogType[]>(`/api/catalog?kind=${kind}`);

/** What this tenant has connected. */
export const connectors = (kind: ComponentKind, tenantId: string) =>
  get<ConfiguredConnector[]>(`/api/connectors?kind=${kind}&tenantId=${encodeURIComponent(tenantId)}`);

/** A session for one form: that type, that connector, nothing else. */
export async function session(wish: {
  tenantId: string;
  kind: ComponentKind;
  typeId: string;
  connectorId?: string | undefined;
}): Promise<ConnectorFrameSession> {
  const answer = await post<HostSession>('/api/session', wish);
  return {
    sessionToken: answer.session_token,
    organizationId: answer.organizationId,
    expiresAt: answer.expires_at,
  };
}

const get = <T>(path: string) => call<T>(path, {});

const post = <T>(path: string, body: object) =>
  call<T>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Our own backend answers in the shapes its contract names, so they are believed here. */
async function call<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (cause) {
    throw new BackendError('offline', 'Northwind’s server does not answer. Is it still running?', { cause });
  }
  const body: T & Partial<Record<'code' | 'message', string>> = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new BackendError(body.code ?? 'unknown', body.message ?? `The server answered ${response.status}.`);
}
