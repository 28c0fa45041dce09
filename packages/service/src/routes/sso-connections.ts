import { randomBytes, randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, notFound } from '../api-error.js';
import { requirePermissions } from '../auth/key-permissions.js';
import type { Principal } from '../auth/principal.js';
import { organizationRoute, type Route } from '../http/route.js';
import { defaultRoles, permissions } from '../permissions.js';
import { requireDomains } from '../sign-in/domain-proof.js';
import { Email } from '../sign-in/email.js';
import { isHttps } from '../sign-in/saml-metadata.js';
import type { SsoConnection } from '../store/sso-connections.js';
import type { RouteContext } from './context.js';
import { requireGrantable } from './organization-users.js';
import { Id, Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

/** Seconds. */
const SESSION_TIMEOUT = { min: 300, max: 30 * 86_400 } as const;

const Domain = z
  .string()
  .max(253)
  .transform((text) => text.trim().toLowerCase())
  .refine((text) => Email.safeParse(`x@${text}`).success, 'Must be a domain: example.com.');
const MetadataUrl = z.string().max(1_000).refine(isHttps, 'Must be an https address.');
const SessionSettings = z.object({
  session_timeout: z
    .int()
    .min(SESSION_TIMEOUT.min)
    .max(SESSION_TIMEOUT.max)
    .optional()
    .openapi({ description: 'Seconds until a sign-in ends. Default: USER_SESSION_HOURS.' }),
});
const DefaultRole = Id.nullable().openapi({
  description: 'Role of users who sign in for the first time without an invitation. Null: they are refused.',
});

const fields = {
  name: Name,
  description: z.string().max(2_000),
  public_name: z.string().trim().min(1).max(100).openapi({
    description: 'What users read when an address has several connections. Default: `sso-` and random digits.',
  }),
};

const ConnectionBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    public_name: z.string(),
    description: z.string(),
    type: z.literal('saml'),
    email_domains: z.array(z.string()),
    saml_entity_id: z.string(),
    saml_metadata_url: z.string(),
    session_settings: SessionSettings,
    default_role_id: z.string().nullable(),
    service_provider: z.object({ entity_id: z.string(), acs_url: z.string(), metadata_url: z.string() }).openapi({
      description: 'What the identity provider needs to know about this service.',
    }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('SsoConnection');

/** Routes for single sign-on of an organization by SAML. */
export function ssoConnectionRoutes({ store, signIn, clock, principals }: RouteContext): Route[] {
  const tag = 'Connections';
  const path = '/v3/{org}/connections';
  const write = { permission: 'connection:write', session: 'deny' } as const;
  const response = { status: 200, description: 'The connection.', schema: ConnectionBody } as const;

  const present = (connection: SsoConnection): z.output<typeof ConnectionBody> => {
    const entityId = `${signIn.publicUrl}/login/saml/${connection.id}`;
    return {
      id: connection.id,
      organization_id: connection.organizationId,
      name: connection.name,
      public_name: connection.publicName,
      description: connection.description,
      type: 'saml',
      email_domains: connection.emailDomains,
      saml_entity_id: connection.entityId,
      saml_metadata_url: connection.metadataUrl,
      session_settings: connection.sessionTimeout === null ? {} : { session_timeout: connection.sessionTimeout },
      default_role_id: connection.defaultRoleId,
      service_provider: { entity_id: entityId, acs_url: `${entityId}/acs`, metadata_url: entityId },
      created_at: connection.createdAt.toISOString(),
      updated_at: connection.updatedAt.toISOString(),
    };
  };

  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listConnections',
        summary: 'List the connections of an organization',
        description:
          'Oldest first. A team does not list those of its parent organization, which sign in to the team as well.',
        access: { permission: 'connection:read', session: 'deny' },
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z
            .object({ connections: z.array(ConnectionBody), pagination: Pagination })
            .openapi('SsoConnectionList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.ssoConnections.list(organization.id, query);
        return { status: 200, body: { connections: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createConnection',
        summary: 'Connect the identity provider of an organization by SAML',
        description:
          'Its users belong to the connection and reach nothing but the organization and its teams. The caller needs every permission, because the provider decides who signs in. The metadata is fetched through the egress guard. Each of `email_domains` needs the TXT record `_connector-frame.<domain>` with the ID of the organization, unless the operator creates the connection.',
        access: write,
        params: Org,
        body: z
          .object({
            name: fields.name,
            description: fields.description.default(''),
            public_name: fields.public_name.optional(),
            email_domains: z.array(Domain).max(50).default([]),
            saml: z.object({
              entity_id: z.string().min(1).max(1_024).openapi({ description: 'Entity ID of the identity provider.' }),
              metadata_url: MetadataUrl,
            }),
            session_settings: SessionSettings.default({}),
            default_role_id: DefaultRole.default(null),
          })
          .openapi('CreateConnection', {
            example: {
              name: 'Okta',
              email_domains: ['acme.example'],
              saml: {
                entity_id: 'http://www.okta.com/exk1',
                metadata_url: 'https://acme.okta.com/app/exk1/sso/saml/metadata',
              },
            },
          }),
        response,
      },
      async ({ principal, organization, body, commit }) => {
        requireAll(principal);
        const domains = [...new Set(body.email_domains)];
        if (!(principal.type === 'key' && principal.key.isOperator)) {
          await requireDomains(domains, organization.id, signIn.resolveTxt);
        }
        const idp = await signIn.connections.readMetadata(body.saml.metadata_url, body.saml.entity_id);
        const now = new Date(clock.now());
        const connection: SsoConnection = {
          id: randomUUID(),
          organizationId: organization.id,
          name: body.name,
          publicName: body.public_name ?? `sso-${randomBytes(4).toString('hex')}`,
          description: body.description,
          entityId: body.saml.entity_id,
          metadataUrl: body.saml.metadata_url,
          emailDomains: domains,
          defaultRoleId: body.default_role_id,
          sessionTimeout: body.session_settings.session_timeout ?? null,
          idp,
          idpReadAt: now,
          createdAt: now,
          updatedAt: now,
        };
        return commit(async (tables) => {
          if (connection.defaultRoleId !== null) {
            await requireGrantable(tables, principal, organization.id, connection.defaultRoleId);
          }
          await tables.ssoConnections.insert(connection);
          return { status: 200, body: present(connection) };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readConnection',
        summary: 'Read a connection',
        description: '`service_provider` contains what the identity provider needs to know about this service.',
        access: { permission: 'connection:read', session: 'deny' },
        params: OrgAndId,
        response,
      },
      async ({ organization, params }) => {
        const connection = await store.ssoConnections.get(organization.id, params.id);
        if (!connection) throw notFound();
        return { status: 200, body: present(connection) };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeConnection',
        summary: 'Update a connection; absent properties are kept',
        description:
          'Of `saml`, only `metadata_url` can change: the provider stays the same. That, and the default role, needs every permission.',
        access: write,
        params: OrgAndId,
        body: z
          .object({
            name: fields.name.optional(),
            description: fields.description.optional(),
            public_name: fields.public_name.optional(),
            saml: z.strictObject({ metadata_url: MetadataUrl.optional() }).optional(),
            session_settings: SessionSettings.optional(),
            default_role_id: DefaultRole.optional(),
          })
          .openapi('ChangeConnection', { example: { session_settings: { session_timeout: 28_800 } } }),
        response,
      },
      async ({ principal, organization, params, body, commit }) => {
        const known = await store.ssoConnections.get(organization.id, params.id);
        if (!known) throw notFound();
        const metadataUrl = body.saml?.metadata_url;
        if (metadataUrl !== undefined || body.default_role_id !== undefined) requireAll(principal);
        const idp =
          metadataUrl === undefined ? undefined : await signIn.connections.readMetadata(metadataUrl, known.entityId);
        return commit(async (tables) => {
          const before = await tables.ssoConnections.lock(organization.id, params.id);
          if (!before) throw notFound();
          if (typeof body.default_role_id === 'string') {
            await requireGrantable(tables, principal, organization.id, body.default_role_id);
          }
          const now = new Date(clock.now());
          const timeout = body.session_settings;
          const connection: SsoConnection = {
            ...before,
            ...(body.name !== undefined && { name: body.name }),
            ...(body.description !== undefined && { description: body.description }),
            ...(body.public_name !== undefined && { publicName: body.public_name }),
            ...(metadataUrl !== undefined && idp && { metadataUrl, idp, idpReadAt: now }),
            ...(timeout && { sessionTimeout: timeout.session_timeout ?? null }),
            ...(body.default_role_id !== undefined && { defaultRoleId: body.default_role_id }),
            updatedAt: now,
          };
          await tables.ssoConnections.update(connection);
          return { status: 200, body: present(connection) };
        });
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'deleteConnection',
        summary: 'Delete a connection with all its users',
        description: 'Their sign-ins end. A user cannot delete the connection of the last administrator.',
        access: { permission: 'connection:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 204, description: 'The connection was deleted.' },
        errorStatuses: { 409: 'A user calls this, and no administrator would be left.' },
      },
      async ({ principal, organization, params, commit }) => {
        const result = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          const connection = await tables.ssoConnections.lock(organization.id, params.id);
          if (!connection) throw notFound();
          await tables.ssoConnections.remove(organization.id, connection.id);
          const ids = organization.parentId === null ? [organization.id] : [organization.id, organization.parentId];
          const rest = await tables.memberships.countWithRole(ids, defaultRoles.admin.id);
          if (principal.type === 'user' && rest === 0) {
            throw new ApiError(409, 'conflict', 'No administrator would be left. Add another one first.');
          }
          return { status: 204 };
        });
        principals.forget();
        return result;
      },
    ),
  ];
}

/** Requires every permission, because the provider can sign in as any user of the connection. */
const requireAll = (principal: Principal): void =>
  requirePermissions(principal, permissions, 'To decide who signs in, the caller lacks the permission');
