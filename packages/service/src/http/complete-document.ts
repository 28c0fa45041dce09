import type { OpenAPIHono } from '@hono/zod-openapi';

type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>;
type Paths = NonNullable<Document['paths']>;
type Operation = NonNullable<Paths[string]['get']>;
type Parameter = NonNullable<Operation['parameters']>[number];
type Inline = Exclude<Parameter, { $ref: string }>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** An operation's parameter and its place. */
interface Place {
  parameters: Parameter[];
  index: number;
  parameter: Inline;
  /** Name among the components. */
  name: string;
  text: string;
}

/** Completes a document that was generated from the routes, and changes it. */
export function completeDocument(document: Document): void {
  describeParameters(document);
  closeRequestBodies(document);
  // A property that refers to a component has a default or not: the component itself has none.
  for (const schema of Object.values(document.components?.schemas ?? {}))
    if ('default' in schema) delete schema.default;
}

/** Describes ids in paths, and moves each parameter that several operations have to the components. */
function describeParameters(document: Document): void {
  const places: Place[] = [];
  for (const [path, operation] of operationsOf(document)) {
    const { parameters = [] } = operation;
    for (const [index, parameter] of parameters.entries()) {
      if (!isInline(parameter)) continue;
      const complete = withDescription(parameter, path);
      parameters[index] = complete;
      const name = componentName(parameter, path);
      places.push({ parameters, index, parameter: complete, name, text: JSON.stringify(complete) });
    }
  }
  const uses = new Map<string, number>();
  for (const { text } of places) uses.set(text, (uses.get(text) ?? 0) + 1);
  const components = ((document.components ??= {}).parameters ??= {});
  for (const { parameters, index, parameter, name, text } of places) {
    const known = components[name];
    // Another parameter with this name stays where it is.
    if ((uses.get(text) ?? 0) < 2 || (known && JSON.stringify(known) !== text)) continue;
    components[name] = parameter;
    parameters[index] = { $ref: `#/components/parameters/${name}` };
  }
}

/**
 * States that request bodies take no other fields. The routes reject these, except for read-only
 * fields of responses, which have no effect.
 */
function closeRequestBodies({ components, ...document }: Document): void {
  for (const [, { requestBody }] of operationsOf(document)) {
    const schema =
      requestBody && 'content' in requestBody ? requestBody.content['application/json']?.schema : undefined;
    const name = schema && '$ref' in schema ? schema.$ref?.split('/').at(-1) : undefined;
    const component = name === undefined ? undefined : components?.schemas?.[name];
    if (component && 'properties' in component) component.additionalProperties ??= false;
  }
}

/** Returns the operations of a document with their paths. */
export const operationsOf = ({ paths = {} }: Pick<Document, 'paths'>): (readonly [path: string, Operation])[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [[path, operation] as const] : [];
    }),
  );

const isInline = (parameter: Parameter): parameter is Inline => !('$ref' in parameter);

/** Moves the description of the schema to the parameter, or writes one for an id in the path. */
function withDescription(parameter: Inline, path: string): Inline {
  const { name, in: place, schema = {}, description, ...rest } = parameter;
  const { description: own, ...bare } = '$ref' in schema ? { ...schema, description: undefined } : schema;
  const text = description ?? own ?? (place === 'path' ? describeId(name, path) : undefined);
  return { name, in: place, ...rest, ...(text !== undefined && { description: text }), schema: bare };
}

const describeId = (name: string, path: string): string => {
  if (name === 'type_id' || name === 'typeId') return 'ID of the type.';
  return `ID of the ${resourceOf(name, path)}.`;
};

/** Returns what a path parameter identifies: `API key` for `id` in `/v2/{org}/api_keys/{id}`. */
function resourceOf(name: string, path: string): string {
  if (name !== 'id') return name.replace(/_id$/, '').replaceAll('_', ' ');
  const [, segment = 'resources'] = new RegExp(`([\\w-]+)/\\{${name}\\}`).exec(path) ?? [];
  const words = (segment === 'retry' ? 'pipelines' : segment).replaceAll(/[-_]/g, ' ');
  return words
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
    .replace(/^api\b/, 'API');
}

/** Returns the name of a parameter among the components: `PipelineId`, `Limit`. */
function componentName({ name, in: place }: Inline, path: string): string {
  const words = place === 'path' && name === 'id' ? `${resourceOf(name, path)} id` : name;
  return words.replaceAll(/(?:^|[\s_-])(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
