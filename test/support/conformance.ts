import { z } from 'zod';
import type { App } from '../../packages/service/src/app.js';

/** Throws if a response does not conform to the service's own OpenAPI document. */
export type Conformance = (method: string, path: string, status: number, body: unknown, isJson: boolean) => void;

type JsonSchema = Record<string, unknown>;

interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, DocumentedResponse> }>>;
  components: { schemas: Record<string, JsonSchema> };
}

interface DocumentedResponse {
  content?: Record<string, { schema: JsonSchema }>;
}

/**
 * Statuses that the document does not list: 304, redirects to the canonical URL, and internal
 * errors.
 */
const UNDOCUMENTED = new Set([304, 308, 500]);

export async function createConformance(app: App): Promise<Conformance> {
  const document: Document = await (await app.request('/openapi.json')).json();
  const text = JSON.stringify(document).replaceAll('#/components/schemas/', '#/$defs/');
  const { paths, components }: Document = JSON.parse(text);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replace(/(.)\/$/, '$1').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      ...operation,
    })),
  );
  const checks = new Map<string, z.ZodType>();

  return (method, path, status, body, isJson) => {
    const address = new URL(path, 'http://service').pathname;
    const operation = operations.find((each) => each.method === method && each.pattern.test(address));
    if (!operation || UNDOCUMENTED.has(status)) return;
    const name = `${operation.operationId} ${status}`;
    const documented = operation.responses[String(status)];
    if (!documented) throw new Error(`${name} is not in the document: ${JSON.stringify(body)}`);
    const schema = documented.content?.['application/json']?.schema;
    if (!schema || !isJson) return;
    let check = checks.get(name);
    if (!check) checks.set(name, (check = z.fromJSONSchema({ ...schema, $defs: components.schemas })));
    const result = check.safeParse(body);
    if (!result.success) throw new Error(`${name} is not what the document says: ${z.prettifyError(result.error)}`);
  };
}
