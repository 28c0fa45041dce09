import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { KeyPrincipal, UserPrincipal } from '../auth/principal.js';
import { SESSION_TTL, type SessionScope } from '../auth/session-tokens.js';
import { forbidden, invalidRequest, notFound } from '../api-error.js';
import { route, type Route } from '../http/route.js';
import type { Organization, ReadTables } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, Kind, NamedOrganization, Origin, TypeId } from './schemas.js';

const MintBody = z
  .object({
    organization_id: Id,
    ttl_seconds: z
      .int()
      .optional()
      .openapi({
        description: `Lifetime in seconds, clamped to ${SESSION_TTL.min} to ${SESSION_TTL.max}. Default: ${SESSION_TTL.default}.`,
      }),
    kind: Kind.optional().openapi({ description: 'Limits the session to this kind. Default: both.' }),
    type_ids: z
      .array(TypeId)
      .min(1)
      .max(100)
      .optional()
      .openapi({ description: 'Limits the session to these connector types. Default: all.' }),
    connector_id: Id.optional().openapi({
      description: 'Limits the session to reading, updating and testing this connector.',
    }),
    secret_ids: z.array(Id).min(1).max(100).optional().openapi({
      description:
        'Secrets of the organization that connectors may refer to by id, at the destinations that each lists. Default: none.',
    }),
    parent_origins: z.array(Origin).min(1).max(20).optional().openapi({
      description: 'Origins of pages that may embed the frame. Default: all that the organization allows.',
    }),
  })
  .openapi('MintSession', { example: { organization_id: 'your-team', ttl_seconds: 900 } });

const SessionBody = z
  .object({
    session_token: z.string().openapi({ description: 'For `sessionToken` of the frame.' }),
    expires_at: z.iso.datetime(),
    organizationId: z.string(),
    ttl_seconds: z.int(),
  })
  .openapi('Session');

const mint = { permission: 'session:create', session: 'deny' } as const;

const OwnSessionBody = z.object({ organization: NamedOrganization }).openapi('OwnSession');

export function sessionRoutes(context: RouteContext): Route[] {
  const { accessControl, sessions, clock, metrics, principals } = context;
  return [
    route(
      {
        method: 'post',
        path: '/v3/sessions',
        tag: 'Sessions',
        operation: 'mintSession',
        summary: 'Create a session: a short-lived token for a frame',
        description:
          'Call it on the backend, and pass the token to the page. The session acts on one organization. `kind`, `type_ids`, `connector_id`, `secret_ids` and `parent_origins` limit it further. It ends with the API key, or with the sign-in of the user who creates it: 400 if that expires earlier.',
        access: mint,
        body: MintBody,
        response: { status: 200, description: 'The session.', schema: SessionBody },
        errorStatuses: {
          404: 'The organization, the connector or a secret does not exist, or belongs to another one.',
        },
      },
      async ({ principal: caller, body }) => {
        const { organization, principal } = await accessControl.enter(caller, body.organization_id, mint);
        const ttl = Math.min(Math.max(body.ttl_seconds ?? SESSION_TTL.default, SESSION_TTL.min), SESSION_TTL.max);
        if (principal.type === 'session') throw forbidden('Sessions may not create sessions.');
        const { expiresAt } = principal.type === 'key' ? principal.key : principal.signIn;
        if (expiresAt && expiresAt.getTime() < clock.now() + ttl * 1_000) {
          throw invalidRequest('The session would outlive its API key or the sign-in. Request a shorter one.');
        }
        const scope = await readScope(context, organization, principal, body);
        const { token, expiresAt: end } = await sessions.mint(scope, ttl);
        metrics.sessionMinted();
        return {
          status: 200,
          body: {
            session_token: token,
            expires_at: end.toISOString(),
            organizationId: organization.id,
            ttl_seconds: ttl,
          },
        };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v3/session',
        tag: 'Sessions',
        operation: 'readSession',
        summary: 'Read the session of the request',
        description: 'The form shows the name of the organization next to each secret.',
        access: { permission: 'any', session: 'allow' },
        response: { status: 200, description: 'The session.', schema: OwnSessionBody },
      },
      async ({ principal }) => {
        if (principal.type !== 'session') throw forbidden('This operation requires a session token.');
        const organization = await principals.organization(principal.session.organizationId);
        if (!organization) throw notFound();
        const { id, name } = organization;
        return { status: 200, body: { organization: { id, name } } };
      },
    ),
  ];
}

async function readScope(
  { store, principals, parentOrigins }: RouteContext,
  organization: Organization,
  principal: KeyPrincipal | UserPrincipal,
  body: z.output<typeof MintBody>,
): Promise<SessionScope> {
  const parent = organization.parentId === null ? undefined : await principals.organization(organization.parentId);
  const allowed = parentOrigins.of(organization, parent);
  const foreign = body.parent_origins?.filter((origin) => !allowed.includes(origin)) ?? [];
  if (foreign.length > 0) {
    throw invalidRequest(
      'Some parent_origins are not allowed for this organization. Add them to its allowed_origins first.',
      {
        parent_origins: foreign,
      },
    );
  }
  const kind =
    body.connector_id === undefined ? body.kind : await kindOf(store, organization.id, body.connector_id, body.kind);
  return {
    organizationId: organization.id,
    creator:
      principal.type === 'key'
        ? { type: 'key', apiKeyId: principal.key.id, keyVersion: principal.key.tokenVersion }
        : { type: 'user', userId: principal.user.id, signInId: principal.signIn.id },
    parentOrigins: body.parent_origins ?? allowed,
    ...(kind ? { kind } : {}),
    ...(body.type_ids ? { typeIds: body.type_ids } : {}),
    ...(body.connector_id === undefined ? {} : { connectorId: body.connector_id }),
    ...(body.secret_ids ? { secretIds: await ownSecrets(store, organization.id, body.secret_ids) } : {}),
  };
}

/**
 * Returns the ids, each of which must be a secret of the organization.
 * @throws ApiError 404
 */
async function ownSecrets(
  store: ReadTables,
  organizationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  for (const id of ids) if (!(await store.organizationSecrets.usable(organizationId, id))) throw notFound();
  return ids;
}

/**
 * Returns the kind of an existing connector, which must be `requiredKind` if that is given.
 * @throws ApiError 404
 */
async function kindOf(
  store: ReadTables,
  organizationId: string,
  id: string,
  requiredKind?: ConnectorKind,
): Promise<ConnectorKind> {
  for (const kind of requiredKind ? [requiredKind] : Kind.options) {
    if (await store.connectors.get(organizationId, kind, id)) return kind;
  }
  throw notFound();
}
