import type { Lost } from '../bus/bus.js';
import type { ComponentType, PipelineDefinition, PipelineStatus } from './definition.js';
import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import { Counters, type Amount, type LetterCounts, type NodeCounts } from './counters.js';
import { inputOf } from './routes.js';
import { statusOf, type Facts } from './status.js';
import { reportedSuspension, suspensionIn, type Suspension } from '../connector-api/suspension.js';

/** State of a pipeline as its worker observes it. Parsing a report gives the same value. */
export interface Observation {
  working: boolean;
  full: boolean;
  /** Records in the buffer that the slowest output has not acknowledged. */
  waiting: number;
  /** State of the input and outputs, by node id. */
  nodes: Readonly<Record<string, NodeFacts>>;
  counts: JsonValue;
  /** Number of dead letters, by node id; nodes without any are left out. */
  deadLetters: Readonly<Record<string, number>>;
  /** Records dropped by the overflow policies of the outputs, by node id. */
  dropped: Readonly<Record<string, number>>;
  lost?: Lost;
  lastError?: JsonValue;
  suspension?: Suspension;
}

/** The last failure of a node. Times in milliseconds since the epoch. */
export interface NodeFailure {
  at: number;
  code: string;
  message: string;
  /** Time of the next attempt. */
  retryAt: number;
}

export type NodeFacts = Pick<Facts, 'acknowledged' | 'failures' | 'permanent' | 'throttledUntil'> & {
  /** Absent after a success. */
  failure?: NodeFailure;
};

export interface NodeState {
  node_id: string;
  node_slug: string;
  component_type: ComponentType;
  status: PipelineStatus;
  ingress: Amount;
  egress: Amount;
  errors: number;
  /** Attempts to read or write that failed while the node was erroring, since the pipeline was created. */
  failed_attempts: number;
  dead_letters: DeadLetterState;
  /** The failure that is being retried; null if the last attempt succeeded. */
  error: { time: string; code: string; message: string } | null;
  /** When the failure is retried. */
  next_attempt_time: string | null;
  /** A person has to act. */
  needs_attention: boolean;
  /** Records that an output did not receive because its overflow policy drops them. */
  dropped: number;
}

/** Dead letters of a node or a pipeline: how many there are now, and the other counts in total. */
export interface DeadLetterState extends LetterCounts {
  waiting: number;
}

/** State of a pipeline in API format. Times are RFC 3339. */
export interface PipelineState {
  pipeline_id: string;
  status: PipelineStatus;
  /** Why an enabled pipeline is `Disabled`. `until`: when it continues by itself, if it does. */
  suspension: { reason: string; message: string; until: string | null } | null;
  ingress: Amount;
  egress: Amount;
  errors: number;
  last_ingested_time: string | null;
  last_error: { time: string; node_id?: string; code: string; message: string } | null;
  /** Why a person has to act, and what to do; null if nothing is wrong or it is only temporary. */
  needs_attention: { node_id: string; code: string; message: string; next_attempt_time: string } | null;
  dead_letters: DeadLetterState;
  /** Records in the buffer. */
  waiting: number;
  /** Sum of the nodes. */
  dropped: number;
  /**
   * Stored records that can't be read anymore; at least that many unless `exact`. `since` and
   * `latest`: when the first and the latest of them were found.
   */
  lost: { node_id?: string; records: number; exact: boolean; since: string; latest: string } | null;
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
  const { observation, held, heartbeatAt } = known;
  const suspension = known.enabled ? observation?.suspension : undefined;
  const enabled = known.enabled && !suspension;
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
    const { failure, permanent } = facts[node.id] ?? ZERO;
    return {
      node_id: node.id,
      node_slug: node.slug,
      component_type: node.component_type,
      status: statusOf({ ...shared, full, enabled: enabled && node.enabled, ...(facts[node.id] ?? ZERO) }, now),
      ...counts,
      failed_attempts: counters.failedAttempts(node.id),
      dead_letters: { waiting: observation?.deadLetters[node.id] ?? 0, ...counters.letters(node.id) },
      error: failure ? { time: time(failure.at), code: failure.code, message: failure.message } : null,
      next_attempt_time: failure ? time(failure.retryAt) : null,
      needs_attention: failure !== undefined && permanent,
      dropped: observation?.dropped[node.id] ?? 0,
    };
  });
  const letters = Object.values(observation?.deadLetters ?? {});
  return {
    pipeline_id: definition.id,
    status: statusOf({ ...shared, ...worst(Object.values(facts)) }, now),
    suspension: suspension ? presentSuspension(suspension) : null,
    ...totalsOf(definition, counters),
    last_ingested_time: counters.lastIngestedAt === undefined ? null : time(counters.lastIngestedAt),
    last_error: errorIn(observation?.lastError),
    needs_attention: attentionOf(facts),
    dead_letters: { waiting: letters.reduce((sum, each) => sum + each, 0), ...counters.allLetters },
    waiting: observation?.waiting ?? 0,
    dropped: nodes.reduce((sum, node) => sum + node.dropped, 0),
    lost: observation?.lost ? lossOf(definition, observation.lost) : null,
    nodes,
  };
}

/** What a person can do about a permanent failure, after the sentence that describes it. */
const REMEDY =
  'It is tried again from time to time. Fix the cause; then save the connector, or retry now, to continue at once.';

function attentionOf(facts: Readonly<Record<string, NodeFacts>>): PipelineState['needs_attention'] {
  for (const [nodeId, { failure, permanent }] of Object.entries(facts)) {
    if (!failure || !permanent) continue;
    const { code, message, retryAt } = failure;
    return { node_id: nodeId, code, message: `${message} ${REMEDY}`, next_attempt_time: time(retryAt) };
  }
  return null;
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

function lossOf(definition: PipelineDefinition, { records, exact, since, latest }: Lost): PipelineState['lost'] {
  const input = inputOf(definition);
  return { ...(input && { node_id: input.id }), records, exact, since: time(since), latest: time(latest) };
}

const presentSuspension = ({ code, message, until }: Suspension): PipelineState['suspension'] => ({
  reason: code,
  message,
  until: until === undefined ? null : time(until),
});

const time = (at: number): string => new Date(at).toISOString();

function errorIn(value: JsonValue | undefined): PipelineState['last_error'] {
  if (!isRecord(value)) return null;
  const { at, node_id: nodeId, code, message } = value;
  if (typeof at !== 'number' || typeof code !== 'string' || typeof message !== 'string') return null;
  return { time: time(at), ...(typeof nodeId === 'string' && { node_id: nodeId }), code, message };
}

/** Converts an observation to its report format. */
export function reportOf(observation: Observation): DataRecord {
  const { working, full, waiting, nodes, counts, deadLetters, dropped, lost, lastError, suspension } = observation;
  const each = Object.entries(nodes).map(([id, { acknowledged, failures, permanent, throttledUntil, failure }]) => [
    id,
    {
      acknowledged,
      failures,
      permanent,
      ...(throttledUntil !== undefined && { throttled_until: throttledUntil }),
      ...(failure && { failure: { ...failure } }),
    },
  ]);
  return {
    working,
    full,
    waiting,
    ends: Object.fromEntries(each),
    counts,
    dead_letters: { ...deadLetters },
    dropped: { ...dropped },
    ...(lost && { lost: { ...lost } }),
    ...(lastError !== undefined && { last_error: lastError }),
    ...(suspension && { suspension: reportedSuspension(suspension) }),
  };
}

/** Parses an observation from a report. */
export function observationIn(report: JsonValue): Observation | undefined {
  if (!isRecord(report)) return undefined;
  const ends = isRecord(report['ends']) ? report['ends'] : {};
  // Reports of earlier releases have neither this nor `dropped`.
  const lost = lostIn(report['lost']);
  const suspension = suspensionIn(report['suspension']);
  return {
    working: report['working'] === true,
    full: report['full'] === true,
    waiting: typeof report['waiting'] === 'number' ? report['waiting'] : 0,
    nodes: Object.fromEntries(Object.entries(ends).map(([id, node]) => [id, factsIn(node)])),
    counts: report['counts'] ?? null,
    deadLetters: numbersIn(report['dead_letters']),
    dropped: numbersIn(report['dropped']),
    ...(lost && { lost }),
    ...(report['last_error'] !== undefined && { lastError: report['last_error'] }),
    ...(suspension && { suspension }),
  };
}

const numbersIn = (value: JsonValue | undefined): Record<string, number> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );

function failureIn(value: JsonValue | undefined): NodeFailure | undefined {
  if (!isRecord(value)) return undefined;
  const { at, code, message, retryAt } = value;
  if (typeof at !== 'number' || typeof retryAt !== 'number') return undefined;
  return typeof code === 'string' && typeof message === 'string' ? { at, code, message, retryAt } : undefined;
}

function lostIn(value: JsonValue | undefined): Lost | undefined {
  if (!isRecord(value)) return undefined;
  const { records, exact, since, latest } = value;
  if (typeof records !== 'number' || typeof since !== 'number' || typeof latest !== 'number') return undefined;
  return { records, exact: exact === true, since, latest };
}

function factsIn(value: JsonValue | undefined): NodeFacts {
  const node = isRecord(value) ? value : {};
  const until = node['throttled_until'];
  const failure = failureIn(node['failure']);
  return {
    acknowledged: node['acknowledged'] === true,
    failures: typeof node['failures'] === 'number' ? node['failures'] : 0,
    permanent: node['permanent'] === true,
    ...(typeof until === 'number' && { throttledUntil: until }),
    ...(failure && { failure }),
  };
}
