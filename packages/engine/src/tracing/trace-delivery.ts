import { SpanKind, type Attributes } from '@opentelemetry/api';
import type { BatchTraces } from './batch-traces.js';
import { tracer } from './tracer.js';

/** A delivery, as its span describes it. */
export interface TracedDelivery {
  pipelineId: string;
  nodeId: string;
  /** Ids of the stored batches that it contains. */
  batchIds: readonly string[];
  records: number;
}

/**
 * Runs a delivery in a span that continues the traces of its records. Requests that the output
 * sends meanwhile carry its `traceparent`.
 */
export function traceDelivery<T>(
  traces: BatchTraces,
  { pipelineId, nodeId, batchIds, records }: TracedDelivery,
  deliver: () => Promise<T>,
): Promise<T> {
  const { parent, links } = traces.originOf(batchIds);
  const attributes: Attributes = {
    'connector_frame.pipeline.id': pipelineId,
    'connector_frame.node.id': nodeId,
    'messaging.batch.message_count': records,
  };
  return tracer.startActiveSpan('deliver', { kind: SpanKind.PRODUCER, links, attributes }, parent, async (span) => {
    try {
      return await deliver();
    } finally {
      span.end();
    }
  });
}
