import { trace } from '@opentelemetry/api';

/**
 * The tracer of the engine. It records nothing until the application registers an OpenTelemetry
 * SDK, as the service does if it is told where to send traces.
 */
export const tracer = trace.getTracer('connector-frame');
