import { formatted } from './format.mjs';
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
  'adapter-config-struct': 'the settings that an open-source adapter reads',
  'vendor-api-convention': "the parameters of the vendor's other APIs",
  'recall-unverified': 'general knowledge of the product, not verified',
  own: 'none: the type is defined here',
};

const cell = (text) => String(text).replaceAll('|', '\\|');

const line = ({ type, tests, runs, polls }) => {
  const runtime = runs ? (polls ? `polls (${type.poll.verified})` : 'yes') : '';
  return `| ${[`${type.name}${type.in_beta ? ' (beta)' : ''}`, `\`${type.type_id}\``, type.category, `\`${type.evidence}\``, tests ? 'yes' : '', runtime].map(cell).join(' | ')} |`;
};

/**
 * Renders the page that lists all connector types, as Markdown.
 * @param types the types of the catalog
 * @param connectors returns the code of a type, as `@connector-frame/engine/connectors` does
 */
export async function typeTable(types, connectors) {
  const rows = types.map((type) => {
    const { testConnection, createInput, createOutput, createEnrichment } = connectors(type);
    const runs = Boolean({ input: createInput, output: createOutput, enrichment: createEnrichment }[type.kind]);
    return { type, tests: Boolean(testConnection), runs, polls: Boolean(type.poll) };
  });
  const count = (pick) => rows.filter(pick).length;
  const table = (kind) =>
    [
      '| Name | Type ID | Category | Fields from | Test connection | Runtime |',
      '| --- | --- | --- | --- | --- | --- |',
      ...rows.filter(({ type }) => type.kind === kind).map(line),
    ].join('\n');
  const used = Object.entries(evidence).map(
    ([word, meaning]) => `| \`${word}\` | ${meaning} | ${count(({ type }) => type.evidence === word)} |`,
  );
  const text = `# Connector types

<!-- Written by npm run type-table from packages/catalog/types and the engine's code. Changes by hand are lost. -->

${types.length} types: ${count(({ type }) => type.kind === 'input')} inputs, ${count(({ type }) => type.kind === 'output')} outputs and ${count(({ type }) => type.kind === 'enrichment')} enrichments. Users can configure and save all of them.

- **Test connection**: ${count(({ tests }) => tests)} types can test their connection.
- **Runtime**: ${count(({ runs }) => runs)} types move data. A pipeline with any other type fails with \`no_runtime\`.
- **polls**: the input reads its vendor's HTTP API as its data file describes. In brackets, what that
  was tested against: \`documented\`, requests and responses of the vendor's documentation;
  \`independent\`, a mock server or client library that others wrote; \`live\`, the vendor itself.

**Fields from** names the source of a type's fields, from the most to the least reliable:

| Value | Source | Types |
| --- | --- | --- |
${used.join('\n')}

## Inputs

${table('input')}

## Outputs

${table('output')}

## Enrichments

${table('enrichment')}
`;
  return formatted(page, text);
}
