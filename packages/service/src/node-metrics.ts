import type { Backlog, NodeState } from '@connector-frame/engine';
import { Counter, Gauge, type Registry } from 'prom-client';

/** State of one node, for operators. */
export interface NodeMeasurement extends NodeState {
  pipeline_id: string;
  /** Stored records of an input that can't be read anymore. */
  lost: number;
  /** What waits for an output. */
  backlog: Backlog;
}

/** Measurements of the pipelines that have series of their own. */
export interface NodeMeasurements {
  nodes: readonly NodeMeasurement[];
  /** When the nodes were measured, in milliseconds since the epoch. */
  at: number;
  /** Pipelines without series of their own, because there are more than `METRICS_PIPELINES`. */
  unlabeled: number;
}

const LABELS = ['pipeline_id', 'node_id', 'node_slug', 'component_type'] as const;

interface Series {
  name: string;
  help: string;
  /** A label in addition to those of the node. */
  label?: string;
  /** Counts since the pipeline was created, also over restarts. */
  counts?: true;
  /** Only nodes of this type have it. */
  only?: NodeState['component_type'];
  /** Returns the values of a node, by the value of the label. */
  of: (node: NodeMeasurement, at: number) => Readonly<Record<string, number | undefined>>;
}

const series: readonly Series[] = [
  {
    name: 'pipeline_node_records_total',
    help: 'Records that reached (ingress) and left (egress) a node.',
    label: 'direction',
    counts: true,
    of: ({ ingress, egress }) => ({ ingress: ingress.records, egress: egress.records }),
  },
  {
    name: 'pipeline_node_bytes_total',
    help: 'Bytes of the records that reached (ingress) and left (egress) a node, as JSON.',
    label: 'direction',
    counts: true,
    of: ({ ingress, egress }) => ({ ingress: ingress.bytes, egress: egress.bytes }),
  },
  {
    name: 'pipeline_node_errors_total',
    help: 'Records rejected permanently at a node.',
    counts: true,
    of: ({ errors }) => ({ '': errors }),
  },
  {
    name: 'pipeline_node_dropped_total',
    help: 'Records that the overflow policy of an output dropped.',
    counts: true,
    only: 'output',
    of: ({ dropped }) => ({ '': dropped }),
  },
  {
    name: 'pipeline_node_lost_total',
    help: 'Stored records of an input that were lost with their buffer files.',
    counts: true,
    only: 'input',
    of: ({ lost }) => ({ '': lost }),
  },
  {
    name: 'pipeline_node_dead_letters',
    help: 'Dead letters that wait for a decision.',
    of: ({ dead_letters: letters }) => ({ '': letters.waiting }),
  },
  {
    name: 'pipeline_node_backlog_records',
    help: 'Buffered records that an output has not acknowledged.',
    only: 'output',
    of: ({ backlog }) => ({ '': backlog.records }),
  },
  {
    name: 'pipeline_node_backlog_bytes',
    help: 'Bytes of the buffered records that an output has not acknowledged, as stored.',
    only: 'output',
    of: ({ backlog }) => ({ '': backlog.bytes }),
  },
  {
    name: 'pipeline_node_backlog_age_seconds',
    help: 'Age of the oldest buffered record that an output has not acknowledged; 0 if there is none.',
    only: 'output',
    of: ({ backlog: { records, oldestAt } }, at) => ({
      '': records === 0 ? 0 : oldestAt === undefined ? undefined : Math.max(0, at - oldestAt) / 1_000,
    }),
  },
  {
    name: 'pipeline_node_status',
    help: 'Status of a node: 1 for the present one.',
    label: 'status',
    of: ({ status }) => ({ [status]: 1 }),
  },
];

/**
 * Registers the metrics of nodes.
 * @param measured returns the measurements to export
 */
export function watchNodes(registry: Registry, measured: () => NodeMeasurements): void {
  for (const { name, help, label, counts = false, only, of } of series) {
    const options = {
      name,
      help,
      labelNames: label === undefined ? LABELS : [...LABELS, label],
      registers: [registry],
    };
    const collect = (): void => {
      metric.reset();
      const { nodes, at } = measured();
      for (const node of nodes) {
        if (only !== undefined && node.component_type !== only) continue;
        const labels = Object.fromEntries(LABELS.map((each) => [each, node[each]]));
        for (const [value, number] of Object.entries(of(node, at)))
          if (number !== undefined) metric.inc(label === undefined ? labels : { ...labels, [label]: value }, number);
      }
    };
    const metric = counts ? new Counter({ ...options, collect }) : new Gauge({ ...options, collect });
  }
  const unlabeled = new Gauge({
    name: 'pipelines_unlabeled',
    help: 'Pipelines without series of their own, because there are more than METRICS_PIPELINES.',
    registers: [registry],
    collect() {
      unlabeled.set(measured().unlabeled);
    },
  });
}
