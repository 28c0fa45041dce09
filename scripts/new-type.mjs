/**
 * `npm run new-type -- <input|output|enrichment> <type-id> "<Name>"`: writes the data file of a new connector
 * type, to be filled in. `npm run check-types` lists what is still missing.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { root } from './lib/root.mjs';

const USAGE =
  'Usage: npm run new-type -- <input|output|enrichment> <type-id> "<Name>" [--print], for example: input acme-audit-logs "Acme Audit Logs"';

/**
 * Returns a file with the fields that most products have: an address and a token. Its sentences
 * lack their period, so the check of the catalog reports each one until it is written.
 */
function draft(kind, typeId, name) {
  const [vendor] = name.split(' ');
  const backfill = kind === 'input' ? { backfill_start_time: { $ref: 'common#/backfill' } } : {};
  return {
    type_id: typeId,
    kind,
    name,
    description: `Say in one sentence ${{ input: 'what it brings', output: 'where it delivers', enrichment: 'what it looks up' }[kind]}`,
    category: kind === 'output' ? 'SIEM' : 'SaaS',
    vendor,
    version: '1.0.0',
    evidence: 'docs',
    order: ['/settings/base_url', '/secrets/api_token'],
    config: {
      settings: {
        required: ['base_url'],
        properties: {
          base_url: {
            type: 'string',
            title: 'API address',
            description: 'Say where in the console of the product the address is found',
            format: 'uri',
            examples: ['https://api.acme.example'],
            'x-destination': true,
          },
          ...backfill,
        },
      },
      secrets: {
        required: ['api_token'],
        properties: {
          api_token: {
            type: 'string',
            title: 'API token',
            description: 'Say where in the console of the product a token is made, and what it must be allowed to do',
          },
        },
      },
    },
  };
}

const [kind, typeId, name, print] = process.argv.slice(2);
const path = `packages/catalog/types/${kind}s/${typeId}.json`;
const problem =
  (!['input', 'output', 'enrichment'].includes(kind) && USAGE) ||
  (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(typeId ?? '') && `A type id is lower-case letters, digits and "-". ${USAGE}`) ||
  (!name && USAGE) ||
  (print !== '--print' && existsSync(root + path) && `${path} is there already.`);
if (problem) {
  console.error(problem);
  process.exit(1);
}
const text = `${JSON.stringify(draft(kind, typeId, name), undefined, 2)}\n`;
if (print === '--print') process.stdout.write(text);
else {
  writeFileSync(root + path, text);
  console.log(
    `${path} is there to be filled in. \`npm run check-types\` says what is missing; \`npm start\` shows the form.`,
  );
}
