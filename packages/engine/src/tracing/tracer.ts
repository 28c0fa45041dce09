import { trace, type Tracer } from '@opentelemetry/api';

/**
 * Returns the tracer of the engine. It records nothing until the application registers an
 * OpenTelemetry SDK, as the service does if the environment names a collector.
 *
 * Looked up each time: a tracer that was created earlier never finds an SDK that was registered with
 * another copy of the API package.
 */
export const getTracer = (): Tracer => trace.getTracer('connector-frame');
