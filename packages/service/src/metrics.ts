import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LetterCounts, Losses, NodeCounts, PipelineStatus } from '@connector-frame/engine';
import { watchNodes, type NodeMeasurements } from './node-metrics.js';

/** Metrics of the engine for operators. */
export interface EngineMetrics {
  /** Totals of all pipelines since this process started. Monotonic. */
  totals: NodeCounts;
  /** Dead letters of all pipelines since this process started. Monotonic. */
  letters: LetterCounts;
  /** Records dropped by overflow policies, and lost with their buffer files. */
  losses: Losses;
  /** Number of pipelines by status. */
  statuses: ReadonlyMap<PipelineStatus, number>;
}

/** Measures the pipelines of this process. */
export interface PipelineMeter {
  collectMetrics(): EngineMetrics;
  measureNodes(): Promise<NodeMeasurements>;
}

/**
 * Collects metrics for Prometheus. Labels contain only route patterns and fixed words, and the ids
 * of a limited number of pipelines.
 */
export interface Metrics {
  /**
   * Records one request.
   * @param seconds from arrival to response
   */
  observe(method: string, route: string, status: number, seconds: number): void;
  sessionMinted(): void;
  connectionTested(type: string, outcome: string): void;
  /** Adds the metrics of the pipelines in this process. */
  watchPipelines(meter: PipelineMeter): void;
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Creates the metrics of the service.
 * @param process also collect metrics of this process: memory, event loop, garbage collection
 */
export function createMetrics({ process = false } = {}): Metrics {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const sessions = new Counter({
    name: 'sessions_minted_total',
    help: 'Session tokens minted.',
    registers: [registry],
  });
  const tests = new Counter({
    name: 'connection_tests_total',
    help: 'Connection tests by connector type and outcome.',
    labelNames: ['type', 'outcome'],
    registers: [registry],
  });
  // Cache the series: finding one by its labels costs as much as the rest of an observation.
  const known = new Map<string, ReturnType<typeof requests.labels>>();
  // All series of nodes are from one measurement.
  let measure: PipelineMeter['measureNodes'] | undefined;
  let measured: NodeMeasurements = { nodes: [], at: 0, unlabeled: 0 };
  return {
    observe(method, route, status, seconds) {
      const name = `${method} ${route} ${status}`;
      let series = known.get(name);
      if (!series) known.set(name, (series = requests.labels({ method, route, status })));
      series.observe(seconds);
    },
    sessionMinted: () => sessions.inc(),
    connectionTested: (type, outcome) => tests.inc({ type, outcome }),
    watchPipelines(meter) {
      watchPipelines(registry, () => meter.collectMetrics());
      watchNodes(registry, () => measured);
      measure = () => meter.measureNodes();
    },
    contentType: registry.contentType,
    async text() {
      if (measure) measured = await measure();
      return registry.metrics();
    },
  };
}

function watchPipelines(registry: Registry, collectMetrics: () => EngineMetrics): void {
  const pipelines = new Gauge({
    name: 'pipelines',
    help: 'Pipelines of this process by status.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      pipelines.reset();
      for (const [status, count] of collectMetrics().statuses) pipelines.set({ status }, count);
    },
  });
  const moved = (name: 'records' | 'bytes'): void => {
    const counter = new Counter({
      name: `pipeline_${name}_total`,
      help: `The ${name} that pipelines took in (ingress) and wrote (egress) since the start of this process.`,
      labelNames: ['direction'],
      registers: [registry],
      collect() {
        const { ingress, egress } = collectMetrics().totals;
        counter.reset();
        counter.inc({ direction: 'ingress' }, ingress[name]);
        counter.inc({ direction: 'egress' }, egress[name]);
      },
    });
  };
  moved('records');
  moved('bytes');
  const notDelivered = (kind: keyof Losses, help: string): void => {
    const counter = new Counter({
      name: `pipeline_${kind}_total`,
      help,
      registers: [registry],
      collect() {
        counter.reset();
        counter.inc(collectMetrics().losses[kind]);
      },
    });
  };
  notDelivered('dropped', 'Records dropped by the overflow policies of outputs since this process started.');
  notDelivered('lost', 'Stored records found to be lost with their buffer files since this process started.');
  const errors = new Counter({
    name: 'pipeline_errors_total',
    help: 'Records rejected permanently since this process started.',
    registers: [registry],
    collect() {
      errors.reset();
      errors.inc(collectMetrics().totals.errors);
    },
  });
  const letters = new Counter({
    name: 'pipeline_dead_letters_total',
    help: 'Dead letters stored, dropped to make space, and redelivered since this process started.',
    labelNames: ['event'],
    registers: [registry],
    collect() {
      letters.reset();
      const { stored, dropped, replayed } = collectMetrics().letters;
      letters.inc({ event: 'stored' }, stored);
      letters.inc({ event: 'dropped' }, dropped);
      letters.inc({ event: 'replayed' }, replayed);
    },
  });
}
