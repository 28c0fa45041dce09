import { format, resolveConfig } from 'prettier';
import { root } from './root.mjs';

/** Path of the page. */
export const page = `${root}docs/connector-types.md`;

/** Meaning of the values of `evidence` in a type file, from the most to the least reliable. */
const evidence = {
  openapi: "the vendor's or the service's OpenAPI document",
  docs: 'the public documentation of the vendor or the service',
  'connector-spec': 'the published specification of a connector for the same product',
  'connector-manifest': 'the published manifest of a connector for the same product',
  'component-reference': 'the reference of a component of a data collector',
  'package-manifest': 'the manifest of a published integration package',
  'adapter-config-struct': 'the settings that an open adapter reads',
  'vendor-api-convention': "what the vendor's other APIs ask for",
  'recall-unverified': 'general knowledge of the product, checked against nothing',
};

const cell = (text) => String(text).replaceAll('|', '\\|');

const line = ({ type, tests, runs, polls }) => {
  const runtime = runs ? (polls ? `polls (verified: ${type.poll.verified})` : 'yes') : '';
  return `| ${[`${type.name}${type.in_beta ? ' (beta)' : ''}`, `\`${type.type_id}\``, type.category, `\`${type.evidence}\``, tests ? 'yes' : '', runtime].map(cell).join(' | ')} |`;
};

/**
 * Renders the page that lists all connector types, as Markdown.
 * @param types the types of the catalog
 * @param connectors returns the code of a type, as `@connector-frame/engine/connectors` does
 */
export async function typeTable(types, connectors) {
  const rows = types.map((type) => {
    const { testConnection, createInput, createOutput } = connectors(type);
    const runs = Boolean(type.kind === 'input' ? createInput : createOutput);
    return { type, tests: Boolean(testConnection), runs, polls: Boolean(type.poll) };
  });
  const count = (pick) => rows.filter(pick).length;
  const table = (kind) =>
    [
      '| Name | Type id | Category | Fields from | Test connection | Runtime |',
      '| --- | --- | --- | --- | --- | --- |',
      ...rows.filter(({ type }) => type.kind === kind).map(line),
    ].join('\n');
  const used = Object.entries(evidence).map(
    ([word, meaning]) => `| \`${word}\` | ${meaning} | ${count(({ type }) => type.evidence === word)} |`,
  );
  const text = `# Connector types

<!-- Written by npm run type-table from packages/catalog/types and the engine's code. Changes by hand are lost. -->

${types.length} types: ${count(({ type }) => type.kind === 'input')} inputs and ${count(({ type }) => type.kind === 'output')} outputs. A person can fill in each of them, and its configuration is checked, stored
and given out again. ${count(({ tests }) => tests)} of them can test their connection, and ${count(({ runs }) => runs)} run: data moves through them. The others wait for their code;
a pipeline with one says so.

**Fields from** tells how far to trust that the fields are those the product asks for, from the surest down:

| Word | Taken from | Types |
| --- | --- | --- |
${used.join('\n')}

**polls (verified: contract)** is an input that is read over its vendor's HTTP API as its data file says. It was tested against a server that
answers as the vendor's pages say, never against the vendor.

## Inputs

${table('input')}

## Outputs

${table('output')}
`;
  return format(text, { ...(await resolveConfig(page)), parser: 'markdown' });
}
