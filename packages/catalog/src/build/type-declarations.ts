import type { ConnectorKind, ConnectorTypeData, FieldSchema } from '../types.js';
import { isUnion } from '../validate/schema.js';

/**
 * Generates TypeScript declarations from the data: the IDs of all types, and the configuration of
 * each. Fields that a condition may hide are optional.
 * @returns the text of a declaration file
 */
export function typeDeclarations(types: readonly ConnectorTypeData[]): string {
  const table = (kind: ConnectorKind, name: string): string => {
    const rows = types
      .filter((type) => type.kind === kind)
      .map(({ type_id: id, name: title, config: { settings, secrets } }) => {
        const fields = `{ settings: ${shape(settings)}; secrets: ${shape(secrets)} }`;
        return `  /** ${comment(title)} */\n  ${JSON.stringify(id)}: ${fields};`;
      });
    return `/** The ${kind} types: by id, what a person fills in. */\nexport interface ${name} {\n${rows.join('\n')}\n}`;
  };
  return [
    '/** Connector types as TypeScript, made from their data when the catalog is built. */',
    table('input', 'InputTypes'),
    table('output', 'OutputTypes'),
    table('enrichment', 'EnrichmentTypes'),
    '/** All kinds, for `ConnectorTypes` of `@connector-frame/core/connect`. */\nexport interface CatalogTypes {\n  input: InputTypes;\n  output: OutputTypes;\n  enrichment: EnrichmentTypes;\n}',
    'export type InputTypeId = keyof InputTypes;',
    'export type OutputTypeId = keyof OutputTypes;',
    'export type EnrichmentTypeId = keyof EnrichmentTypes;',
    'export type ConnectorTypeId = InputTypeId | OutputTypeId | EnrichmentTypeId;',
    '',
  ].join('\n\n');
}

interface Fields {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

function shape({ properties, required = [] }: Fields): string {
  const fields = Object.entries(properties).map(([key, field]) => {
    const mark = required.includes(key) && field['x-when'] === undefined ? '' : '?';
    const about = field.title === undefined ? '' : `/** ${comment(field.title)} */ `;
    return `${about}${JSON.stringify(key)}${mark}: ${valueOf(field)}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

function valueOf(field: FieldSchema): string {
  if (isUnion(field)) {
    const variants = field.oneOf.map(({ properties }) => {
      const parts = Object.entries(properties).map(([key, part]) =>
        'const' in part
          ? `${JSON.stringify(key)}: ${JSON.stringify(part.const)}`
          : `${JSON.stringify(key)}${part.required?.length ? '' : '?'}: ${shape(part)}`,
      );
      return `{ ${parts.join('; ')} }`;
    });
    return variants.join(' | ');
  }
  if (field.type === 'string') return field.enum?.map((value) => JSON.stringify(value)).join(' | ') ?? 'string';
  if (field.type === 'boolean') return 'boolean';
  if (field.type === 'array') return `(${valueOf(field.items)})[]`;
  if (field.type === 'object') return 'properties' in field ? shape(field) : 'Record<string, string>';
  return 'number';
}

/** Prevents a text from ending the comment. */
const comment = (text: string): string => text.replaceAll('*/', '* /');
