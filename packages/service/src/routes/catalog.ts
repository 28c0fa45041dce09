import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { requireKind, requireType } from '../auth/session-scope.js';
import type { MadeAnswer } from '../connectors/catalog-answers.js';
import { notFound } from '../http/api-error.js';
import { isCurrent } from '../http/etag.js';
import { route, type Answer, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { Kind, TypeId } from './schemas.js';

const TypeHead = z.object({
  type_id: z.string(),
  kind: Kind,
  name: z.string(),
  description: z.string(),
  category: z.string(),
  vendor: z.string(),
  supported_features: z.object({
    test_connection: z.boolean(),
    runtime: z.boolean().openapi({ description: 'Whether pipelines with it run. Else their status is `Erroring`.' }),
  }),
  in_beta: z.boolean(),
  version: z.string(),
});

const TypeRow = TypeHead.extend({
  icon: z.string().nullable().openapi({ description: "Address of the vendor's SVG." }),
}).openapi('ConnectorTypeRow');

const TypeBody = TypeHead.extend({
  icon: z.string().nullable().openapi({ description: "The vendor's SVG as a data URI." }),
  order: z.array(z.string()).optional().openapi({ description: 'JSON Pointers of fields, in the order shown.' }),
  config: z.object({
    settings: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema 2020-12.' }),
    secrets: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema 2020-12.' }),
  }),
}).openapi('ConnectorType');

/** The catalog of one kind, the same for every organization. */
export function catalogRoutes({ catalogAnswers }: RouteContext, kind: ConnectorKind): Route[] {
  const access = { permission: 'read', session: 'allow' } as const;
  const Kinds = kind === 'input' ? 'Inputs' : 'Outputs';
  return [
    route(
      {
        method: 'get',
        path: `/v1/${kind}s`,
        tag: 'Catalog',
        operation: `list${Kinds.slice(0, -1)}Types`,
        summary: `List the types of ${kind}s`,
        access,
        answer: { status: 200, description: 'All types, without their fields.', schema: z.array(TypeRow) },
      },
      ({ c, principal }) => {
        requireKind(principal, kind);
        const typeIds = principal.type === 'session' ? principal.session.typeIds : undefined;
        return cached(c.req.header('if-none-match'), catalogAnswers.list(kind, typeIds));
      },
    ),
    route(
      {
        method: 'get',
        path: `/v1/${kind}s/{type_id}`,
        tag: 'Catalog',
        operation: `read${Kinds.slice(0, -1)}Type`,
        summary: `Read a type of ${kind} with its fields`,
        access,
        params: z.object({ type_id: TypeId }),
        answer: { status: 200, description: 'The type.', schema: TypeBody },
      },
      ({ c, principal, params }) => {
        requireKind(principal, kind);
        requireType(principal, params.type_id);
        const answer = catalogAnswers.type(kind, params.type_id);
        if (!answer) throw notFound();
        return cached(c.req.header('if-none-match'), answer);
      },
    ),
  ];
}

function cached(ifNoneMatch: string | undefined, { text, tag }: MadeAnswer): Answer {
  const headers = { ETag: tag };
  return isCurrent(ifNoneMatch, tag) ? { status: 304, headers } : { status: 200, body: text, headers };
}
