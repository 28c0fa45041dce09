import { SpanKind, SpanStatusCode, type Attributes } from '@opentelemetry/api';
import type { Failure } from '../connector-api/index.js';
import type { BatchTraces } from './batch-traces.js';
import { getTracer } from './tracer.js';

/** A delivery, as its span describes it. */
export interface TracedDelivery {
  nodeId: string;
  /** Ids of the batches of the input that the records are from. */
  sources: readonly string[];
  records: number;
}

/**
 * Runs a delivery, with all its attempts, in a span that continues the traces of its records. It
 * ends with an error if the delivery will be repeated.
 */
export function traceDelivery(
  { pipelineId, traces }: { pipelineId: string; traces: BatchTraces },
  { nodeId, sources, records }: TracedDelivery,
  deliver: () => Promise<boolean>,
): Promise<boolean> {
  const { parent, links } = traces.originOf(sources);
  const attributes: Attributes = {
    'connector_frame.pipeline.id': pipelineId,
    'connector_frame.node.id': nodeId,
    'messaging.batch.message_count': records,
  };
  return getTracer().startActiveSpan(
    'deliver',
    { kind: SpanKind.CONSUMER, links, attributes },
    parent,
    async (span) => {
      let isDelivered = false;
      try {
        return (isDelivered = await deliver());
      } finally {
        if (!isDelivered) span.setStatus({ code: SpanStatusCode.ERROR, message: 'stopped' });
        span.end();
      }
    },
  );
}

/**
 * Runs one write in a span. Requests that the output sends meanwhile carry its `traceparent`. The
 * span has the code of a failure, not its message, which may quote the destination.
 */
export function traceWrite<T extends object>(records: number, write: () => Promise<T | { failure: Failure }>) {
  const attributes: Attributes = { 'messaging.batch.message_count': records };
  return getTracer().startActiveSpan('write', { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const outcome = await write();
    if ('failure' in outcome) {
      span.setAttribute('error.type', outcome.failure.code);
      span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.failure.code });
    }
    span.end();
    return outcome;
  });
}
