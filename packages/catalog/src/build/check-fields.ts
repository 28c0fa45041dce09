/** Rules of each field: patterns, bounds, defaults, examples. */
import type { ConnectorConfigSchema, ConnectorTypeData, FieldSchema } from '../types.js';
import { validateConfig } from '../validate/validate-config.js';
import { isUnion, variantsOf } from '../validate/schema.js';
import { patternProblem } from './check-pattern.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf } from './walk.js';

const MAX_DEPTH = 8;

/** Returns the first issue that the validator reports for a value under one field, as text. */
function problemOf(field: FieldSchema, value: unknown): string | undefined {
  const { 'x-when': _when, ...rest } = field;
  const schema: ConnectorConfigSchema = {
    settings: { type: 'object', properties: { value: rest }, required: ['value'], additionalProperties: false },
    secrets: { type: 'object', properties: {}, additionalProperties: false },
  };
  const [issue] = validateConfig(schema, { settings: { value }, secrets: {} });
  return issue && `${issue.code}${issue.params ? ` ${JSON.stringify(issue.params)}` : ''}`;
}

const boundsOf = (field: FieldSchema): [low: string, high: string] | undefined => {
  if ('minimum' in field && 'maximum' in field) return ['minimum', 'maximum'];
  if ('minLength' in field && 'maxLength' in field) return ['minLength', 'maxLength'];
  return 'minItems' in field && 'maxItems' in field ? ['minItems', 'maxItems'] : undefined;
};

/** Checks every field of a type against its own rules. */
export function checkFields(file: string, data: ConnectorTypeData): Problem[] {
  const problems: Problem[] = [];
  for (const { pointer, field, required, secret, inRow, depth } of fieldsOf(data)) {
    const add = (at: string, message: string): void => void problems.push({ file, pointer: pointer + at, message });
    if (depth > MAX_DEPTH) add('', `is nested deeper than ${String(MAX_DEPTH)} levels: flatten it`);
    const bounds = boundsOf(field);
    const entries = new Map<string, unknown>(Object.entries(field));
    if (bounds && Number(entries.get(bounds[0])) > Number(entries.get(bounds[1])))
      add(`/${bounds[0]}`, `is above "${bounds[1]}"`);
    if (isUnion(field)) {
      const values = variantsOf(field).map((variant) => variant.value);
      if (new Set(values).size < values.length) add('/oneOf', 'two variants have the same "const"');
      if (field.default !== undefined && !values.includes(field.default)) add('/default', `must be ${oneOf(values)}`);
      continue;
    }
    if (field.type === 'string') {
      const problem = field.pattern === undefined ? undefined : patternProblem(field.pattern);
      if (problem !== undefined) {
        add('/pattern', problem);
        continue;
      }
      if (field.pattern !== undefined && field['x-message'] === undefined)
        add('', 'needs "x-message": what to do when the pattern does not match');
      const [example] = field.examples ?? [];
      if (example !== undefined && field.enum !== undefined)
        add('/examples', 'would look like the choice that was made: leave it out, or set "default"');
      const exampleProblem = example === undefined ? undefined : problemOf(field, example);
      if (exampleProblem !== undefined) add('/examples/0', `is not a value the field takes: ${exampleProblem}`);
      if (example === undefined && field.pattern !== undefined && field.default === undefined)
        add('', 'needs "examples": a value that matches the pattern, shown as the placeholder');
      if (secret && field.default !== undefined) add('/default', 'a secret has no default');
      if (!secret && field['x-private-key']) add('/x-private-key', 'a private key is a secret');
    }
    if ('default' in field && field.default !== undefined) {
      const problem = problemOf(field, field.default);
      if (problem !== undefined) add('/default', `is not a value the field takes: ${problem}`);
    } else if (field.type === 'boolean' && !inRow) add('', 'needs "default": a switch is never empty');
    if (field.type === 'boolean' && (required || field['x-when']?.required))
      add('', 'a switch is never empty, so it cannot be required');
  }
  return problems;
}
