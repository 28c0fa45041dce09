import { context, propagation, trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { describeError } from './describe-error.js';

/** Exports spans until it is closed. */
export interface Tracing {
  /** Exports the remaining spans, and stops. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts OpenTelemetry tracing for this process if the environment says where to send traces:
 * `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. The SDK reads the other
 * standard variables: headers, sampler, batch sizes, service name.
 *
 * Source: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Tracing | undefined> {
  const endpoint = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint || environment['OTEL_SDK_DISABLED'] === 'true') return undefined;
  // Loaded on demand: a service without tracing needs no SDK in memory.
  const [{ BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, hooks, core, resources] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
    ]);
  const provider = new BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({ 'service.name': environment['OTEL_SERVICE_NAME'] || 'connector-frame' }),
      ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const contexts = new hooks.AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  core.setGlobalErrorHandler((error) => log.warn({ problem: describeError(error) }, 'could not export traces'));
  log.info({ endpoint: new URL(endpoint).origin }, 'tracing started');
  return {
    async close() {
      await provider
        .shutdown()
        .catch((error: unknown) => log.warn({ problem: describeError(error) }, 'could not export the last traces'));
      for (const api of [trace, propagation, context]) api.disable();
      contexts.disable();
    },
  };
}
