import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { validateConfig, withDefaults } from '@connector-frame/catalog/validate';
import { connectors as codeOf } from '@connector-frame/connectors';
import { ApiError } from '../api-error.js';
import { planWrite, type WritePlan } from '../connectors/plan-write.js';
import { outputField } from '../connectors/referred-output.js';
import { createDestination } from '../secrets/destination.js';
import type { OrganizationVault } from '../secrets/vault.js';
import type { ConnectorSecrets, Tables } from '../store/store.js';
import type { StoredNode } from '../store/tables.js';
import { overridesOf, settingsAt } from './config-overrides.js';
import type { FoundProblem } from './invalid-pipeline.js';

interface Checks {
  catalog: Catalog;
  /** Called for connectors that are newly overridden. Throws if the caller may not do that. */
  requireAllowed(kind: ConnectorKind): void;
  /** The tables of the transaction that stores the nodes. */
  tables: Pick<Tables, 'connectors'>;
  vault: OrganizationVault;
  organizationId: string;
}

/**
 * Checks the configuration that each node with overrides would run with, as if it were saved at the
 * connector. Returns a problem for each part that is not valid. The connectors must exist.
 *
 * @param before the nodes as they are stored
 * @throws what `requireAllowed` throws
 */
export async function checkOverrides(
  nodes: readonly StoredNode[],
  before: readonly StoredNode[],
  checks: Checks,
): Promise<FoundProblem[]> {
  const problems: FoundProblem[] = [];
  for (const [index, node] of nodes.entries()) {
    const overrides = overridesOf(node);
    if (!overrides) continue;
    const path = `/nodes/${index}/config_overrides`;
    const { component_type: kind } = node;
    if (kind === 'transform') {
      const message = 'Only inputs, outputs and enrichments can be overridden.';
      problems.push({ path, code: 'not_supported', message });
      continue;
    }
    if (!before.some((each) => isSame(each, node))) checks.requireAllowed(kind);
    problems.push(...(await problemsOf(node, kind, checks)).map((found) => ({ ...found, path: path + found.path })));
  }
  return problems;
}

const isSame = (a: StoredNode, b: StoredNode): boolean =>
  a.component_id === b.component_id && isDeepStrictEqual(a['config_overrides'], b['config_overrides']);

async function problemsOf(
  node: StoredNode,
  kind: ConnectorKind,
  { catalog, tables, vault, organizationId }: Checks,
): Promise<FoundProblem[]> {
  const found = await tables.connectors.withSecrets(organizationId, node.component_id);
  if (!found) {
    // The components exist, so another organization owns it.
    const message = 'The output of another organization cannot be overridden.';
    return [{ path: '', code: 'not_supported', message }];
  }
  const type = catalog.get(kind, found.connector.type);
  if (!type) return [{ path: '', code: 'unknown', message: 'This release does not have the type of the connector.' }];
  const { receiver, listens } = codeOf(type);
  if (receiver || listens) {
    const message = 'An input that receives records does so once for all pipelines. Change it at the input.';
    return [{ path: '', code: 'not_supported', message }];
  }
  const field = outputField(type);
  if (field !== undefined && Object.hasOwn(overridesOf(node)?.settings ?? {}, field)) {
    const message = 'A node cannot look up another output. Create another enrichment for that.';
    return [{ path: `/settings/${field}`, code: 'not_supported', message }];
  }
  return problemsAt(node, type, found, vault);
}

/**
 * Returns what is wrong with the configuration that a node with overrides runs with: paths as in
 * the configuration of the connector.
 */
export async function problemsAt(
  node: StoredNode,
  type: ConnectorTypeData,
  found: ConnectorSecrets,
  vault: OrganizationVault,
): Promise<FoundProblem[]> {
  const settings = { ...settingsAt(node, found.connector.settings) };
  try {
    // A write with these settings would be refused for the same reasons.
    await planWrite(
      { type, settings, secrets: {}, before: found },
      {
        vault,
        find: nothing,
        findShared: nothing,
        mayAdd: false,
        hasOutput: (id) => Promise.resolve(id === found.connector.refersTo),
      },
    );
    return [];
  } catch (error) {
    if (error instanceof ApiError) return asProblems(error);
    throw error;
  }
}

/** Overrides refer to no secrets. */
const nothing = (): Promise<undefined> => Promise.resolve(undefined);

/**
 * Returns what would be wrong with the configuration of a node with overrides if its connector were
 * saved: the node would fail until one of them is changed.
 *
 * @param plan a valid write to the connector
 */
export function misfitsOf(node: StoredNode, type: ConnectorTypeData, plan: WritePlan): FoundProblem[] {
  if (!overridesOf(node)) return [];
  const kept = new Set([...plan.kept.map(({ secret }) => secret.field), ...plan.changed.map(({ field }) => field)]);
  const { settings } = withDefaults(type.config, { settings: { ...settingsAt(node, plan.settings) } });
  const issues = validateConfig(type.config, { settings, secrets: {} }, { kept });
  if (issues.length > 0)
    return issues.map(({ path, message = 'The value is not valid with the overrides of this node.' }) => ({
      path,
      code: 'invalid_overrides',
      message,
    }));
  const isMoved = createDestination(type, settings).text() !== createDestination(type, plan.settings).text();
  return isMoved && kept.size > 0 ? [{ path: '', code: 'secret_destination_mismatch', message: MOVED }] : [];
}

/** The parts of an error that name fields, as `planWrite` throws it. */
interface FieldDetails {
  issues?: readonly { path: string; code: string; message?: string }[];
  fields?: readonly string[];
}

function asProblems(error: ApiError): FoundProblem[] {
  const { issues = [], fields = [] }: FieldDetails = error.options.details ?? {};
  const isInvalid = error.type === 'invalid_config';
  const found = [
    ...issues.map(({ path, code, message }) =>
      isInvalid ? { path, code, message: message ?? 'The value is not valid.' } : refusal(error, path),
    ),
    ...fields.map((path) => refusal(error, path)),
  ];
  return found.length > 0 ? found : [refusal(error, '')];
}

const MOVED = 'The override would change where this secret is sent. Use another connector for that.';

const refusal = ({ type, message }: ApiError, path: string): FoundProblem => ({
  path,
  code: type,
  message: type === 'secret_reentry_required' ? MOVED : message,
});
