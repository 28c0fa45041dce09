import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** What an operator can watch, in the text format of Prometheus. Labels are route patterns and our own words. */
export interface Metrics {
  /** @param seconds from arrival to answer */
  observe(method: string, route: string, status: number, seconds: number): void;
  sessionMinted(): void;
  connectionTested(type: string, outcome: string): void;
  readonly contentType: string;
  text(): Promise<string>;
}

/** @param process also tells about this process: memory, event loop, garbage collection */
export function createMetrics({ process = false } = {}): Metrics {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from arrival to answer.',
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
  // Finding a series by its labels costs as much as all the rest of it.
  const known = new Map<string, ReturnType<typeof requests.labels>>();
  return {
    observe(method, route, status, seconds) {
      const name = `${method} ${route} ${status}`;
      let series = known.get(name);
      if (!series) known.set(name, (series = requests.labels({ method, route, status })));
      series.observe(seconds);
    },
    sessionMinted: () => sessions.inc(),
    connectionTested: (type, outcome) => tests.inc({ type, outcome }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
