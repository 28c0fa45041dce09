/** Random API calls, generated from the OpenAPI document (R17). */
import { seededRandom } from '../../../packages/engine/src/testing/random.js';
import { EXAMPLE } from '../../../packages/service/src/pipelines/graph-bodies.js';
import { allTypes, exampleBody } from '../connectors.js';
import type { Answer, CallOptions, Tenant, TestService } from '../service.js';
import { signedInUser } from '../users.js';
import {
  anything,
  chance,
  harmed,
  hostileTexts,
  pick,
  poisoned,
  valueFor,
  type Random,
  type Schema,
} from './values.js';

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  schema: Schema;
}

interface Operation {
  id: string;
  method: string;
  path: string;
  /** Whether a session may make the call. */
  session: boolean;
  parameters: Parameter[];
  body?: Schema;
}

export interface ApiDocument {
  operations: Operation[];
  resolve(ref: string): Schema;
}

/** Reads the document of a service. */
export async function readDocument(service: TestService): Promise<ApiDocument> {
  interface Described {
    operationId: string;
    'x-session': string;
    parameters?: (Parameter | { $ref: string })[];
    requestBody?: { content: { 'application/json'?: { schema: Schema } } };
    responses: Record<string, { content?: object }>;
  }
  const { body } = await service.call('GET', '/openapi.json');
  const paths: Record<string, Record<string, Described>> = body.paths;
  const schemas: Record<string, Schema> = body.components.schemas;
  const shared: Record<string, Parameter> = body.components.parameters;
  const parameterAt = (ref: string): Parameter[] => {
    const found = shared[ref.split('/').at(-1) ?? ''];
    return found ? [found] : [];
  };
  return {
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, described]): Operation[] => {
        const { operationId: id, requestBody, responses } = described;
        const parameters = (described.parameters ?? []).flatMap((each) =>
          '$ref' in each ? parameterAt(each.$ref) : [each],
        );
        // Streams do not end.
        if (Object.hasOwn(responses['200']?.content ?? {}, 'text/event-stream')) return [];
        const sent = requestBody?.content['application/json']?.schema;
        const session = described['x-session'] === 'allow';
        return [{ id, method: method.toUpperCase(), path, session, parameters, ...(sent ? { body: sent } : {}) }];
      }),
    ),
    resolve: (ref) => schemas[ref.split('/').at(-1) ?? ''] ?? {},
  };
}

/** Ids created by the sequence so far, by path segment: `inputs`, `api-keys`. */
type Known = Map<string, string[]>;

interface Request {
  operation: Operation;
  path: string;
  options: CallOptions;
}

export interface FuzzFailure {
  seed: number;
  /** Number of the call in the sequence. */
  call: number;
  request: string;
  problem: string;
}

/**
 * Runs one sequence of calls on a new organization. The seed determines all of them.
 * @returns the failures: responses of 500 and above, and responses that the document does not
 *   describe
 */
export async function fuzz(
  service: TestService,
  { operations, resolve }: ApiDocument,
  seed: number,
  calls: number,
): Promise<{ failures: FuzzFailure[]; statuses: number[] }> {
  const random = seededRandom(seed);
  const own = await service.tenant(`fuzz ${seed}`);
  const other = await service.tenant(`other ${seed}`);
  const session = await service.session(own);
  const { token: user } = await signedInUser(service, own.id, 'admin');
  const known: Known = new Map([['organizations', [own.team, own.id]]]);
  const failures: FuzzFailure[] = [];
  const statuses: number[] = [];
  const world = { own, other, session, user, known, resolve };

  for (let call = 0; call < calls; call += 1) {
    // Create first, so that later calls have existing ids.
    const makes = operations.filter(({ method }) => method === 'POST');
    const candidates = call < 6 ? makes : operations;
    const reachable = candidates.filter((each) => hasIds(each, known));
    // Most operations name an ID, and with an unknown one they only respond 404.
    const operation = pick(random, chance(random, 0.8) ? reachable : candidates);
    const request = randomRequest(operation, random, world);
    // Sometimes send two concurrent calls, like a double click.
    const times = chance(random, 0.06) ? 2 : 1;
    const answers = await Promise.allSettled(
      Array.from({ length: times }, () => service.call(operation.method, request.path, request.options)),
    );
    for (const result of answers) {
      const problem = result.status === 'rejected' ? String(result.reason) : problemOf(result.value);
      if (result.status === 'fulfilled') {
        statuses.push(result.value.status);
        remember(known, request, result.value);
      }
      if (problem !== undefined) failures.push({ seed, call, request: describe(request), problem });
    }
  }
  return { failures, statuses };
}

function problemOf({ status, text }: Answer): string | undefined {
  if (status >= 500) return `${status} ${text.slice(0, 400)}`;
  if (/node_modules|at async |\.ts:\d+:\d+/.test(text)) return `a stack in the answer: ${text.slice(0, 400)}`;
  return undefined;
}

/** Whether the sequence has created what the path of an operation names. */
const hasIds = ({ path }: Operation, known: Known): boolean =>
  [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].every(
    ([, before = '', name = '']) => ['org', 'parent_org', 'type_id', 'typeId'].includes(name) || known.has(before),
  );

const describe = ({ operation, path, options }: Request): string =>
  `${operation.id}: ${operation.method} ${path} ${JSON.stringify(options).slice(0, 2_000)}`;

function remember(known: Known, { operation, path }: Request, { status, body }: Answer): void {
  if (status > 201 || operation.method !== 'POST') return;
  const segment =
    new URL(path, 'http://service').pathname.split('/').findLast((part) => /^[a-z_-]{4,}$/.test(part)) ?? '';
  const add = (name: string, id: unknown): void => {
    if (typeof id === 'string') known.set(name, [...(known.get(name) ?? []), id]);
  };
  add(segment, body.id);
  add('pipelines', body.pipeline_id);
  add('outputs', body.output_id);
}

interface World {
  own: Tenant;
  other: Tenant;
  session: string;
  /** Access token of an administrator. */
  user: string;
  known: Known;
  resolve(ref: string): Schema;
}

function randomRequest(operation: Operation, random: Random, world: World): Request {
  const { own, other, known } = world;
  const idFor = (segment: string): string => {
    const made = known.get(segment) ?? [];
    if (made.length > 0 && chance(random, 0.85)) return pick(random, made);
    return pick(random, [other.team, '00000000-0000-4000-8000-000000000000', pick(random, hostileTexts).slice(0, 200)]);
  };
  const organization = (name: string): string => {
    if (chance(random, 0.9)) return name === 'parent_org' ? own.id : pick(random, [own.team, own.team, own.id]);
    return idFor('organizations');
  };
  const encode = (text: string): string => encodeURIComponent(wellFormed(text));
  const address = operation.path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_all, before: string, name: string) => {
    if (name === 'org' || name === 'parent_org') return `${before}/${encode(organization(name))}`;
    if (name === 'type_id' || name === 'typeId') return `${before}/${encode(pick(random, typeIds))}`;
    return `${before}/${encode(idFor(before))}`;
  });
  const query = new URLSearchParams();
  for (const { in: place, name, schema } of operation.parameters) {
    if (place !== 'query' || chance(random, 0.4)) continue;
    const value = chance(random, 0.7) ? valueFor(schema, random, world.resolve) : anything(random);
    query.append(name, textOf(value));
    if (chance(random, 0.05)) query.append(name, 'twice');
  }
  if (chance(random, 0.05)) query.append(pick(random, ['unknown', '__proto__', 'limit', '']), 'x');
  const search = query.size > 0 ? `?${query}` : '';

  const headers = randomHeaders(operation, random);
  const credential = randomCredential(operation, random, world);
  const body = operation.body && { body: randomBody(operation, random, world) };
  return { operation, path: address + search, options: { ...credential, ...body, headers } };
}

/** Returns a credential, in most cases one with the required permission. */
function randomCredential(
  { session: allowed }: Operation,
  random: Random,
  { own, other, session, user }: World,
): CallOptions {
  if (chance(random, 0.8)) {
    if (allowed && chance(random, 0.5)) return { session };
    return chance(random, 0.3) ? { user } : { key: own.key };
  }
  return pick<CallOptions>(random, [{ key: other.key }, { session }, { session: 'eyJhbGciOiJub25lIn0.e30.' }, {}]);
}

const types = allTypes();
const typeIds = ['okta-systemlog', 'http', 's3', 'demo', 'nothing', '', '__proto__', 'x'.repeat(70), '..%2f..', '%00'];

function randomBody(operation: Operation, random: Random, { own, known, resolve }: World): unknown {
  const ref = operation.body?.['$ref'];
  const schema = typeof ref === 'string' ? resolve(ref) : (operation.body ?? {});
  const example = schema['example'];
  let body: unknown = structuredClone(example ?? {});
  const kind = /\/(inputs|outputs|enrichments)\b/.exec(operation.path)?.[1];
  if (kind && chance(random, 0.6)) {
    body = exampleBody(
      pick(
        random,
        types.filter((type) => `${type.kind}s` === kind),
      ),
      'Fuzz',
    );
  } else if (chance(random, 0.3)) {
    body = valueFor(schema, random, resolve);
  }
  body = withKnownIds(body, random, own, known);
  if (chance(random, 0.35)) return poisoned(body, random);
  for (let harm = pick(random, [0, 0, 0, 0, 1, 1, 2, 4]); harm > 0; harm -= 1) body = harmed(body, random);
  if (!chance(random, 0.04)) return body;
  const text = JSON.stringify(body) ?? '';
  return pick(random, [
    text.slice(0, -1),
    `${text} x`,
    '',
    '{"a":1,"a":2}',
    '[',
    `\ufeff${text}`,
    `{"__proto__":${text}}`,
  ]);
}

/** Replaces example ids with existing ones, so that the body passes the first checks. */
function withKnownIds(body: unknown, random: Random, own: Tenant, known: Known): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const text = JSON.stringify(body);
  const replaced = [
    [EXAMPLE.input, 'inputs'],
    [EXAMPLE.output, 'outputs'],
  ].reduce((so, [example = '', segment = '']) => {
    const made = known.get(segment) ?? [];
    return made.length > 0 ? so.replaceAll(example, pick(random, made)) : so;
  }, text);
  const filled: Record<string, unknown> = JSON.parse(replaced);
  for (const [field, segment] of [
    ['input_id', 'inputs'],
    ['output_id', 'outputs'],
    ['pipeline_id', 'pipelines'],
    ['connector_id', 'inputs'],
  ] as const) {
    const made = known.get(segment) ?? [];
    if (field in filled && made.length > 0) filled[field] = pick(random, made);
  }
  if ('organization_id' in filled) filled['organization_id'] = own.team;
  return filled;
}

function randomHeaders(operation: Operation, random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  const takes = new Set(operation.parameters.filter((each) => each.in === 'header').map(({ name }) => name));
  if (takes.has('Idempotency-Key') && chance(random, 0.4)) {
    headers['idempotency-key'] = pick(random, ['intent-1', 'intent-2', 'x'.repeat(255), 'x'.repeat(256), 'a b', '']);
  }
  if (takes.has('If-Match') && chance(random, 0.4)) {
    headers['if-match'] = pick(random, ['"v1"', '"v2"', '*', 'W/"v1"', '"', '', '"v1", "v2"', 'v99999999999999999999']);
  }
  if (chance(random, 0.1)) headers['if-none-match'] = pick(random, ['*', '"x"', 'W/"', '"'.repeat(50)]);
  if (chance(random, 0.05))
    headers['content-type'] = pick(random, ['text/plain', 'application/json; charset=utf-8', '', '/']);
  if (chance(random, 0.03)) headers['content-encoding'] = pick(random, ['gzip', 'br', 'identity', 'x']);
  if (chance(random, 0.05))
    headers['origin'] = pick(random, ['https://connect.example', 'null', 'https://evil.example']);
  if (chance(random, 0.05)) headers['connector-frame-parent'] = pick(random, ['https://app.example', 'x', '']);
  if (chance(random, 0.1)) headers['accept-encoding'] = pick(random, ['gzip;q=0', 'identity', ';;;,,,']);
  if (chance(random, 0.03)) headers['x-forwarded-for'] = pick(random, ['1.2.3.4', '::', 'a, b', ',']);
  if (chance(random, 0.03)) headers['last-event-id'] = pick(random, ['1', '-1', '9'.repeat(40)]);
  return headers;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? wellFormed(value) : (JSON.stringify(value) ?? '');

/** Replaces lone surrogates, which can't be part of a URL. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
