import { readFile, rm } from 'node:fs/promises';
import { parser } from '@prometheus-io/lezer-promql';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { newDataFolder } from '../../../test/support/data-folder.js';
import { writeForm } from '../../../test/support/form-assets.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import { connectClient } from '../../../test/support/service-client.js';
import { buildService, mustStart } from '../../../test/support/service-process.js';

/**
 * The Grafana dashboard against the metrics of a running service. The queries are parsed by the
 * grammar of Prometheus's own user interface.
 */
interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

const TOKEN = 'a-token-for-the-metrics';
const { panels }: { panels: Panel[] } = JSON.parse(
  await readFile(new URL('../grafana/connector-frame.json', import.meta.url), 'utf8'),
);
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

let exported: string;

beforeAll(async () => {
  buildService();
  const form = await writeForm();
  const folder = await newDataFolder('service');
  const environment = { ...operatorsEnvironment(folder, form.folder), METRICS_TOKEN: TOKEN };
  const service = await mustStart(environment);
  const client = await connectClient(service, API_KEY);
  const { pipeline_id: id } = await client.build(await client.make('inputs', 'demo'));
  await vi.waitFor(async () => expect((await client.status(id)).egress.records).toBeGreaterThan(0), 60_000);
  exported = await (await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  service.kill('SIGTERM');
  await service.exited;
  await rm(folder, { recursive: true, force: true });
  await form.remove();
});

/** Replaces the variables of Grafana with values that they may have. */
const concrete = (expr: string): string => expr.replaceAll('$__rate_interval', '5m').replaceAll('$pipeline_id', '.*');

/** Returns the metrics of a query, with the labels that its matchers name. */
function selectorsOf(expr: string): { metric: string; labels: string[] }[] {
  const found: { metric: string; labels: string[] }[] = [];
  const query = concrete(expr);
  parser.parse(query).iterate({
    enter({ type, from, to, node }) {
      const text = query.slice(from, to);
      if (type.isError) throw new Error(`${query}: unexpected "${text}" at ${from}`);
      if (type.name === 'Identifier' && node.parent?.type.name === 'VectorSelector')
        found.push({ metric: text, labels: [] });
      if (type.name === 'LabelName' && node.parent?.type.name.endsWith('LabelMatcher')) found.at(-1)?.labels.push(text);
    },
  });
  return found;
}

/** Returns the names of the labels that a metric has, or `undefined` if there is no such metric. */
function labelsOf(metric: string): Set<string> | undefined {
  const lines = exported.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  const isKnown = exported.includes(`\n# TYPE ${metric.replace(/_(?:bucket|count|sum)$/, '')} `);
  if (!isKnown) return undefined;
  return new Set(lines.flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, name = '']) => name)));
}

describe('the Grafana dashboard', () => {
  it.each(queries)('$title: $expr selects series that the service exports', ({ expr }) => {
    const selectors = selectorsOf(expr);
    expect(selectors).not.toEqual([]);
    for (const { metric, labels } of selectors) {
      const known = labelsOf(metric);
      expect(known, metric).toBeDefined();
      for (const label of labels) expect([...(known ?? [])], `${metric}{${label}}`).toContain(label);
    }
  });

  it('shows each metric of pipelines and nodes', () => {
    const shown = new Set(queries.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric)));
    const metrics = [...exported.matchAll(/^# TYPE (pipeline\w*) /gm)].map(([, name = '']) => name);
    expect(metrics.filter((name) => !shown.has(name))).toEqual(['pipelines_unlabeled']);
  });

  it('has panels with different ids that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});
