import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { Context } from 'hono';
import { requireKind, requireType } from '../auth/session-scope.js';
import type { CachedResponse } from '../connectors/catalog-responses.js';
import { accepts } from '../embed/send-asset.js';
import { notFound } from '../api-error.js';
import { isOfferedTo, offeredTo } from '../features/offered-types.js';
import { isCurrent } from '../http/etag.js';
import { route, type ResponseData, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { kindNames } from './kind-names.js';
import { Kind, TypeId } from './schemas.js';

const TypeHead = z.object({
  type_id: z.string(),
  kind: Kind,
  name: z.string(),
  description: z.string(),
  category: z.string(),
  vendor: z.string(),
  supported_features: z
    .object({
      test_connection: z.boolean(),
      runtime: z.boolean().openapi({
        description: 'Whether pipelines can run the type. If false, the status of its pipelines is `Erroring`.',
      }),
    })
    .openapi('SupportedFeatures'),
  unavailable: z
    .object({ reason: z.enum(['not_yet', 'not_set_up', 'agent', 'proprietary', 'withdrawn']) })
    .optional()
    .openapi('Unavailable', {
      description:
        'Present if `runtime` is false. `not_yet`: a later release may run the type. `not_set_up`: the operator has not configured what the type needs, such as an identity of the service at AWS. `agent`: the records can only be read by an agent on the host. `proprietary`: the protocol is not public. `withdrawn`: the vendor has withdrawn the API.',
    }),
  aliases: z.array(z.string()).optional().openapi({ description: 'Other names that people search for.' }),
  in_beta: z.boolean(),
  version: z.int().openapi({ description: 'Increased when configurations of the type must change.' }),
});

/** The fields of a connector type. */
export const ConnectorTypeConfig = z
  .object({
    settings: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema 2020-12.' }),
    secrets: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema 2020-12.' }),
  })
  .openapi('ConnectorTypeConfig', {
    description: 'What `config` of a connector of this type can contain.',
  });

const fields = {
  order: z.array(z.string()).optional().openapi({ description: 'JSON Pointers of fields, in display order.' }),
  fixed_destination: z.string().optional().openapi({
    description: "The vendor's host, if no setting determines where secrets are sent.",
  }),
  oauth: z
    .object({
      name: z.string().openapi({ description: 'Name of the vendor that the customer signs in at.' }),
      secret: z.string().openapi({ description: 'JSON Pointer of the secret that holds the token.' }),
    })
    .openapi('ConnectorTypeOAuth')
    .optional()
    .openapi({
      description: 'The customer can connect an account instead, if the operator registered a client at the vendor.',
    }),
  config: ConnectorTypeConfig,
};

const Statement = z.object({
  actions: z.array(z.string()),
  resources: z.array(z.string()).openapi({ description: 'ARNs with placeholders, or `*`.' }),
});

const Setup = z
  .object({
    field: z.string().openapi({ description: 'JSON Pointer of the field that it belongs to.' }),
    title: z.string(),
    aws_role: z
      .object({ statements: z.array(Statement).optional() })
      .optional()
      .openapi({
        description: 'The field takes a role at AWS that the service assumes: what it must allow.',
      }),
    key_pair: z.literal(true).optional().openapi({ description: 'The field takes a private RSA key.' }),
    steps: z
      .array(z.object({ title: z.string(), text: z.string() }))
      .optional()
      .openapi({ description: 'Texts to copy, with placeholders: `{{/settings/user}}`.' }),
  })
  .openapi('ConnectorTypeSetup', { description: 'What the customer has to set up at the vendor.' });

const TypeRow = TypeHead.extend({
  icon: z.string().nullable().openapi({ description: "URL of the vendor's SVG." }),
  ...fields,
  config: fields.config.optional(),
}).openapi('ConnectorTypeRow');

const TypeBody = TypeHead.extend({
  icon: z.string().nullable().openapi({ description: "The vendor's SVG as a data URI." }),
  ...fields,
  setup: Setup.optional(),
}).openapi('ConnectorType');

/** Routes for the catalog of one kind, which is the same for every organization. */
export function catalogRoutes({ catalog, catalogAnswers, flags }: RouteContext, kind: ConnectorKind): Route[] {
  const access = { permission: `${kind}:read`, session: 'allow', cached: true } as const;
  const { name } = kindNames[kind];
  const headers = { 'Content-Encoding': '`gzip` if `Accept-Encoding` allows it.' };
  return [
    route(
      {
        method: 'get',
        path: `/v1/${kind}s`,
        tag: 'Catalog',
        operation: `list${name}Types`,
        summary: `List the types of ${kind}s`,
        description: `Without \`include=config\`, a list to choose from. A session that is limited to some types sees only these. The response can be kept: send its ETag as \`If-None-Match\`.`,
        access,
        etag: true,
        query: z.object({
          include: z.enum(['config']).optional().openapi({ description: '`config`: include the fields of each type.' }),
        }),
        response: {
          status: 200,
          description: 'All types that the operator offers. Their fields are included only with `include=config`.',
          schema: z.array(TypeRow),
          headers,
        },
      },
      async ({ c, principal, query }) => {
        requireKind(principal, kind);
        const typeIds = principal.type === 'session' ? principal.session.typeIds : undefined;
        const isOffered = await offeredTo(flags, principal);
        return cached(c, catalogAnswers.list(kind, { typeIds, config: query.include === 'config', isOffered }));
      },
    ),
    route(
      {
        method: 'get',
        path: `/v1/${kind}s/{type_id}`,
        tag: 'Catalog',
        operation: `read${name}Type`,
        summary: `Read a type of ${kind} with its fields`,
        description: `\`config.settings\` and \`config.secrets\` are the JSON Schemas of \`config\` of an ${kind} with this type, with names, descriptions and defaults for a form.`,
        access,
        etag: true,
        params: z.object({ type_id: TypeId }),
        response: { status: 200, description: 'The type.', schema: TypeBody, headers },
      },
      async ({ c, principal, params }) => {
        requireKind(principal, kind);
        requireType(principal, params.type_id);
        const type = catalog.get(kind, params.type_id);
        const response = catalogAnswers.type(kind, params.type_id);
        if (!type || !response || !(await isOfferedTo(flags, principal, type))) throw notFound();
        return cached(c, response);
      },
    ),
  ];
}

function cached(c: Context, { body, tag, gzip }: CachedResponse): ResponseData {
  const headers = { ETag: tag, Vary: 'Origin, Accept-Encoding' };
  if (isCurrent(c.req.header('if-none-match'), tag)) return { status: 304, headers };
  if (!gzip || !accepts(c.req.header('accept-encoding') ?? '', 'gzip')) return { status: 200, body, headers };
  return { status: 200, body: gzip(), headers: { ...headers, 'Content-Encoding': 'gzip' } };
}
