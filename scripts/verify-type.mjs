/**
 * `npm run verify-type -- <kind>:<type id>`: runs a connector type against its real vendor, with
 * credentials from the environment, and prints a report without secrets or data.
 *
 * - `SETTINGS`, `SECRETS`: the configuration, as JSON
 * - `EGRESS_ALLOW`: private networks that may be connected to, in CIDR notation, with commas
 */
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { connectors } from '@connector-frame/connectors';
import { systemClock } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { verifyType } from './lib/verify-type.mjs';

const USAGE = `Usage: SETTINGS='{...}' SECRETS='{...}' npm run verify-type -- <${CONNECTOR_KINDS.join('|')}>:<type id>`;

function fail(message) {
  console.error(message);
  process.exit(2);
}

/** Never quotes the value: it may be a secret. */
function readJson(name) {
  try {
    return JSON.parse(process.env[name] ?? '{}');
  } catch {
    return fail(`${name} is not valid JSON.`);
  }
}

const [kind, typeId] = (process.argv[2] ?? '').split(':');
if (!CONNECTOR_KINDS.includes(kind) || typeId === undefined) fail(USAGE);
const type = loadCatalog().get(kind, typeId);
if (!type) fail(`${kind}:${typeId} is not in the catalog.`);
const allow = (process.env.EGRESS_ALLOW ?? '').split(',').filter((range) => range !== '');
const egress = createEgress({ allow, timeoutMs: 30_000 });
const config = { settings: readJson('SETTINGS'), secrets: readJson('SECRETS') };
const worked = await verifyType({
  type,
  config,
  code: connectors(type),
  validate: validateConfig,
  egress,
  clock: systemClock,
  print: console.log,
});
egress.close?.();
process.exitCode = worked ? 0 : 1;
