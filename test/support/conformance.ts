import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { App } from '../../packages/service/src/app.js';

/** A response as the service sent it. */
export interface SentResponse {
  status: number;
  headers: Headers;
  /** Undefined if it is not JSON. */
  json?: unknown;
  text: string;
}

/**
 * Throws if a response does not conform to the service's own OpenAPI document: its status, its
 * headers, its content type, and its JSON body, which must not contain undocumented properties.
 */
export type Conformance = (method: string, path: string, response: SentResponse) => void;

type JsonSchema = Record<string, unknown>;

interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Reference | Documented> }>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Documented>;
    headers: Record<string, { required?: boolean }>;
  };
}

interface Reference {
  $ref: string;
}

interface Documented {
  content?: Record<string, { schema?: JsonSchema }>;
  headers?: Record<string, Reference | { required?: boolean }>;
}

/** The headers that a client may depend on. All others are those of every response, or of CORS. */
const TOLD = [
  'Content-Disposition',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Request-Id',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
];

const DOCUMENT = 'https://connect.example/openapi.json';

const lastOf = ({ $ref }: Reference): string => $ref.split('/').at(-1) ?? '';

/** Generating a document takes most of the CPU time of creating a service. */
const known = new Map<string, Conformance>();

/** @param variant services of this process with equal values have the same document */
export async function createConformance(app: App, variant: string): Promise<Conformance> {
  const conformance = known.get(variant) ?? conformanceTo(await (await app.request('/openapi.json')).json());
  known.set(variant, conformance);
  return conformance;
}

/** Compiles the schemas on first use: most tests see few of them. */
function conformanceTo({ paths, components }: Document): Conformance {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  formats.default(ajv);
  ajv.addSchema({ $id: DOCUMENT, components: { schemas: closedComponents(components.schemas) } });
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replace(/(.)\/$/, '$1').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      responses,
    })),
  );
  const checks = new Map<string, ValidateFunction>();

  function compile(name: string, schema: JsonSchema): ValidateFunction {
    const compiled = checks.get(name);
    if (compiled) return compiled;
    const check = ajv.compile(inDocument(closed(schema)));
    checks.set(name, check);
    return check;
  }

  return (method, path, { status, headers, json, text: body }) => {
    const address = new URL(path, 'http://service').pathname.replace(/^\/api(?=\/v\d)/, '');
    const wanted = method === 'HEAD' ? 'GET' : method;
    const operation = operations.find((each) => each.method === wanted && each.pattern.test(address));
    // The redirect to the canonical URL of the form is the only response of its address.
    if (!operation || status === 308) return;
    const name = `${operation.operationId} ${status}`;
    const failure = (problem: string) => new Error(`${name} is not what the document says: ${problem}`);
    const found = operation.responses[status];
    if (!found) throw failure(`the status is not documented; body: ${body.slice(0, 500)}`);
    const documented = '$ref' in found ? components.responses[lastOf(found)] : found;
    for (const header of TOLD)
      if (headers.has(header) && !documented?.headers?.[header])
        throw failure(`the header ${header} is not documented`);
    for (const [header, own] of Object.entries(documented?.headers ?? {})) {
      const { required } = '$ref' in own ? (components.headers[lastOf(own)] ?? {}) : own;
      if (required && !headers.has(header)) throw failure(`the header ${header} is missing`);
    }
    if (method === 'HEAD' || body === '') return;
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const content = documented?.content?.[type];
    if (!content) throw failure(`the content type ${type} is not documented`);
    if (json === undefined || !content.schema) return;
    const check = compile(name, content.schema);
    if (!check(json)) throw failure(`${ajv.errorsText(check.errors)} in ${body.slice(0, 2_000)}`);
  };
}

/** Makes references of a schema absolute. */
const inDocument = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`));

/** Keys of a schema whose values are not schemas. */
const PLAIN = new Set(['const', 'default', 'enum', 'example', 'examples', 'required', 'type']);

/**
 * Returns a schema whose objects have no other properties than the documented ones. Clients must
 * ignore further ones, so the document itself does not say that.
 * @param isPart whether the other parts of an `allOf` can have further properties
 */
function closed(schema: JsonSchema, isPart = false): JsonSchema {
  const copy: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (PLAIN.has(key)) copy[key] = value;
    else if (key === '$ref') copy[key] = isPart ? `${String(value)}${PART}` : value;
    else if (key === 'properties' && isSchema(value)) copy[key] = mapValues(value, (each) => closedValue(each));
    else copy[key] = closedValue(value, key === 'allOf');
  }
  const isObject = 'properties' in copy || 'allOf' in copy;
  if (isObject && !isPart && copy['additionalProperties'] === undefined) copy['unevaluatedProperties'] = false;
  return copy;
}

const closedValue = (value: unknown, isPart = false): unknown => {
  if (Array.isArray(value)) return value.map((each: unknown) => closedValue(each, isPart));
  return isSchema(value) ? closed(value, isPart) : value;
};

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapValues = (values: JsonSchema, of: (value: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, of(value)]));

/** Suffix of components as parts of an `allOf`. */
const PART = '~part';

/** Returns each component as a whole, and as a part of an `allOf`. */
const closedComponents = (schemas: Record<string, JsonSchema>): JsonSchema =>
  Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => [
      [name, closed(schema)],
      [`${name}${PART}`, closed(schema, true)],
    ]),
  );
