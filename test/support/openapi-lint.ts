import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  name: string;
  description?: string;
}

interface Content {
  schema?: Schema;
  example?: unknown;
}

interface Response {
  description?: string;
  content?: Record<string, Content>;
}

interface Reference {
  $ref: string;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Response | Reference>;
}

/** What the rules below read of an OpenAPI document. */
export interface LintedDocument {
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string; description?: string }[];
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

/** Rules that do not suit this API, each with the places to which that applies (decision 052). */
const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  // The public API has both `/v1/inputs/{type_id}` and `/v1/{org}/inputs`.
  'no-ambiguous-paths': /./,
  // The page of the form has relative addresses.
  'no-path-trailing-slash': /\/embed\/?$/,
  'path-keys-no-trailing-slash': /\/embed\/?$/,
  // Nothing in these requests can be wrong.
  'operation-4xx-response': /(livez|readyz|integrity\.json)\/get\/responses$/,
  // There is no e-mail address for every installation.
  'contact-properties': /^info\/contact$/,
  // In the order of a reader's first steps.
  'openapi-tags-alphabetical': /^tags$/,
};

const isException = (rule: string, place: string): boolean => EXCEPTIONS[rule]?.test(place) === true;

/** Returns what Redocly's strictest ruleset finds. */
export async function redocly(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: text, config, absoluteRef: 'openapi.json' });
  return problems.flatMap(({ ruleId, message, location: [place] }) => {
    const pointer = place?.pointer?.replaceAll('~1', '/') ?? '';
    return isException(ruleId, pointer) ? [] : [`${ruleId} ${pointer}: ${message}`];
  });
}

/** Returns what all rules of Spectral for OpenAPI find, also those that are off by default. */
export async function spectral(text: string): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  linter.setRuleset(new spectralCore.Ruleset({ extends: [[rulesets.oas, 'all']] }));
  // Redocly checks the examples of the shared error responses; Spectral would once per reference.
  const document = JSON.parse(text, (key, value: unknown) => (key === 'examples' ? undefined : value));
  const problems = await linter.run(document);
  return problems.flatMap(({ code, message, path }) =>
    isException(String(code), path.join('/')) ? [] : [`${code} ${path.join('/')}: ${message}`],
  );
}

/** Returns what breaks our own rules, which generators of clients and readers depend on. */
export function ownRules(document: LintedDocument): string[] {
  return [...operationProblems(document), ...schemaProblems(document.components.schemas)];
}

function operationProblems({ paths, tags, components }: LintedDocument): string[] {
  const described = new Map(tags.map(({ name, description }) => [name, description]));
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => {
      const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
      const problems: string[] = [];
      if (description.length < 20 || description.startsWith(summary)) problems.push('needs a description of its own');
      if (/[.\n]/.test(summary.replaceAll(/`[^`]*`/g, ''))) problems.push('has a summary of more than one line');
      for (const tag of operation.tags)
        if (!described.get(tag)) problems.push(`has the tag ${tag}, which openapi-tags.ts does not describe`);
      for (const each of parameters) {
        const parameter = '$ref' in each ? components.parameters[nameOf(each.$ref)] : each;
        const text = '$ref' in each && !parameter ? 'x' : parameter?.description;
        if (!text) problems.push(`needs a description of the parameter ${JSON.stringify(each)}`);
      }
      for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
        const named = schema && resolve(schema, components.schemas);
        if (example === undefined && named?.['example'] === undefined) problems.push('needs an example of its body');
        if (type === 'application/json' && !isNamed(schema)) problems.push('needs a name for the schema of its body');
      }
      for (const [status, response] of Object.entries(responses)) {
        if ('$ref' in response) continue;
        for (const [type, { schema, example }] of Object.entries(response.content ?? {})) {
          const isJson = type === 'application/json';
          if (isJson && !isNamed(schema)) problems.push(`needs a name for the schema of ${status}`);
          if ((!isJson || schema?.['type'] === 'string') && example === undefined)
            problems.push(`needs an example of ${status} ${type}`);
        }
      }
      return problems.map((problem) => `${operationId} ${problem}.`);
    });
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? '';

const resolve = (schema: Schema, schemas: Record<string, Schema>): Schema | undefined => {
  const ref = schema['$ref'];
  return typeof ref === 'string' ? schemas[nameOf(ref)] : schema;
};

/** Whether generators have a name for a schema: a component, a list of one, or a simple type. */
function isNamed(schema: Schema | undefined): boolean {
  if (!schema) return false;
  const { $ref: ref, type, items } = schema;
  if (type === 'array' && isSchema(items)) return isNamed(items);
  return typeof ref === 'string' || type === 'string' || type === 'integer';
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function schemaProblems(schemas: Record<string, Schema>): string[] {
  const problems: string[] = [];
  const shapes = new Map<string, string>();
  const visit = (schema: Schema, place: string, isComponent: boolean): void => {
    const { properties, anyOf, oneOf, allOf, items, additionalProperties } = schema;
    const fields = isSchema(properties) ? properties : {};
    if (Object.keys(fields).length > 1) {
      const shape = shapeOf(schema);
      const other = shapes.get(shape);
      if (other === undefined) shapes.set(shape, place);
      else problems.push(`${place} has the shape of ${other}: use one component.`);
    }
    for (const members of [anyOf, oneOf]) {
      if (!Array.isArray(members)) continue;
      for (const member of members)
        if (isSchema(member) && member['properties'] !== undefined)
          problems.push(`${place}: name the union's members.`);
    }
    for (const [name, field] of Object.entries(fields)) if (isSchema(field)) visit(field, `${place}.${name}`, false);
    const parts = [items, additionalProperties, ...[anyOf, oneOf, allOf].flatMap((each) => each ?? [])];
    for (const part of parts) if (isSchema(part)) visit(part, isComponent ? `${place} (part)` : place, false);
  };
  for (const [name, schema] of Object.entries(schemas)) {
    if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) problems.push(`${name} is not a name in PascalCase.`);
    visit(schema, name, true);
    problems.push(...clashes(name, schema, schemas));
  }
  return problems;
}

/** Finds properties that are one name in Go, like `createdAt` and `created_at`. */
function clashes(name: string, schema: Schema, schemas: Record<string, Schema>): string[] {
  const known = new Set<string>();
  return propertiesOf(schema, schemas).flatMap(([field, { 'x-go-name': goName }]) => {
    const key = typeof goName === 'string' ? goName : field;
    const plain = key.replaceAll(/[_-]/g, '').toLowerCase();
    if (known.has(plain)) return [`${name}.${field} needs an x-go-name: another property differs only in case or _.`];
    known.add(plain);
    return [];
  });
}

function propertiesOf(schema: Schema, schemas: Record<string, Schema>): [string, Schema][] {
  const { properties, allOf } = schema;
  const own = isSchema(properties) ? Object.entries(properties) : [];
  const parts: unknown[] = Array.isArray(allOf) ? allOf : [];
  return [
    ...own.flatMap(([field, value]): [string, Schema][] => (isSchema(value) ? [[field, value]] : [])),
    ...parts.flatMap((part) => (isSchema(part) ? propertiesOf(resolve(part, schemas) ?? {}, schemas) : [])),
  ];
}

/** Returns a text that is equal for schemas that differ only in their texts. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    TEXTS.has(key) && typeof value !== 'object' ? undefined : value,
  );
}

const TEXTS = new Set(['description', 'title']);
