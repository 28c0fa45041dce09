import type { ComponentType, PipelineDefinition, PipelineStatus } from './definition.js';
import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import { Counters, type Amount, type NodeCounts } from './counters.js';
import { statusOf, type Facts } from './status.js';

/** State of a pipeline as its worker observes it. Parsing a report gives the same value. */
export interface Observation {
  working: boolean;
  full: boolean;
  /** Records in the buffer that the slowest output has not acknowledged. */
  waiting: number;
  /** State of the input and outputs, by node id. */
  nodes: Readonly<Record<string, NodeFacts>>;
  counts: JsonValue;
  lastError?: JsonValue;
}

export type NodeFacts = Pick<Facts, 'acknowledged' | 'failures' | 'permanent' | 'throttledUntil'>;

export interface NodeState {
  node_id: string;
  node_slug: string;
  component_type: ComponentType;
  status: PipelineStatus;
  ingress: Amount;
  egress: Amount;
  errors: number;
}

/** State of a pipeline in API format. Times are RFC 3339. */
export interface PipelineState {
  pipeline_id: string;
  status: PipelineStatus;
  ingress: Amount;
  egress: Amount;
  errors: number;
  last_ingested_time: string | null;
  last_error: { time: string; node_id?: string; code: string; message: string } | null;
  /** Records in the buffer. */
  waiting: number;
  nodes: readonly NodeState[];
}

export interface Known {
  enabled: boolean;
  held: boolean;
  heartbeatAt?: number;
  observation?: Observation;
}

const ZERO: NodeFacts = { acknowledged: true, failures: 0, permanent: false };

/**
 * Derives the state of a pipeline from the observed facts.
 * @param now milliseconds since the epoch
 */
export function stateOf(definition: PipelineDefinition, known: Known, now: number): PipelineState {
  const { observation, enabled, held, heartbeatAt } = known;
  const counters = new Counters(
    definition.nodes.map(({ id }) => id),
    observation?.counts,
  );
  const facts = observation?.nodes ?? {};
  const shared = {
    enabled,
    held,
    working: observation?.working ?? false,
    full: observation?.full ?? false,
    ...(heartbeatAt !== undefined && { heartbeatAt }),
  };
  const nodes = definition.nodes.map((node): NodeState => {
    const counts = counters.node(node.id);
    // The buffer belongs to the input.
    const full = shared.full && node.component_type === 'input';
    return {
      node_id: node.id,
      node_slug: node.slug,
      component_type: node.component_type,
      status: statusOf({ ...shared, full, enabled: enabled && node.enabled, ...(facts[node.id] ?? ZERO) }, now),
      ...counts,
    };
  });
  return {
    pipeline_id: definition.id,
    status: statusOf({ ...shared, ...worst(Object.values(facts)) }, now),
    ...totalsOf(definition, counters),
    last_ingested_time: counters.lastIngestedAt === undefined ? null : time(counters.lastIngestedAt),
    last_error: errorIn(observation?.lastError),
    waiting: observation?.waiting ?? 0,
    nodes,
  };
}

/** Returns the totals of a pipeline: ingress of its input, egress of its outputs. */
export function totalsOf({ nodes }: Pick<PipelineDefinition, 'nodes'>, counters: Counters): NodeCounts {
  const ingress: Amount = { records: 0, bytes: 0 };
  const egress: Amount = { records: 0, bytes: 0 };
  let errors = 0;
  for (const { id, component_type: type } of nodes) {
    const counts = counters.node(id);
    errors += counts.errors;
    if (type === 'input') add(ingress, counts.ingress);
    if (type === 'output') add(egress, counts.egress);
  }
  return { ingress, egress, errors };
}

/** Combines the states of all inputs and outputs; the worst one determines the result. */
export function worst(facts: readonly NodeFacts[]): NodeFacts {
  const until = facts.map(({ throttledUntil }) => throttledUntil).filter((each) => each !== undefined);
  return {
    acknowledged: facts.length > 0 && facts.every(({ acknowledged }) => acknowledged),
    failures: Math.max(0, ...facts.map(({ failures }) => failures)),
    permanent: facts.some(({ permanent }) => permanent),
    ...(until.length > 0 && { throttledUntil: Math.max(...until) }),
  };
}

function add(to: Amount, { records, bytes }: Amount): void {
  to.records += records;
  to.bytes += bytes;
}

const time = (at: number): string => new Date(at).toISOString();

function errorIn(value: JsonValue | undefined): PipelineState['last_error'] {
  if (!isRecord(value)) return null;
  const { at, node_id: nodeId, code, message } = value;
  if (typeof at !== 'number' || typeof code !== 'string' || typeof message !== 'string') return null;
  return { time: time(at), ...(typeof nodeId === 'string' && { node_id: nodeId }), code, message };
}

/** Converts an observation to its report format. */
export function reportOf({ working, full, waiting, nodes, counts, lastError }: Observation): DataRecord {
  const each = Object.entries(nodes).map(([id, { acknowledged, failures, permanent, throttledUntil }]) => [
    id,
    { acknowledged, failures, permanent, ...(throttledUntil !== undefined && { throttled_until: throttledUntil }) },
  ]);
  return {
    working,
    full,
    waiting,
    ends: Object.fromEntries(each),
    counts,
    ...(lastError !== undefined && { last_error: lastError }),
  };
}

/** Parses an observation from a report. */
export function observationIn(report: JsonValue): Observation | undefined {
  if (!isRecord(report)) return undefined;
  const ends = isRecord(report['ends']) ? report['ends'] : {};
  return {
    working: report['working'] === true,
    full: report['full'] === true,
    waiting: typeof report['waiting'] === 'number' ? report['waiting'] : 0,
    nodes: Object.fromEntries(Object.entries(ends).map(([id, node]) => [id, factsIn(node)])),
    counts: report['counts'] ?? null,
    ...(report['last_error'] !== undefined && { lastError: report['last_error'] }),
  };
}

function factsIn(value: JsonValue | undefined): NodeFacts {
  const node = isRecord(value) ? value : {};
  const until = node['throttled_until'];
  return {
    acknowledged: node['acknowledged'] === true,
    failures: typeof node['failures'] === 'number' ? node['failures'] : 0,
    permanent: node['permanent'] === true,
    ...(typeof until === 'number' && { throttledUntil: until }),
  };
}
