import type { Shape } from '../template.js';

/** Log records with the fields that `monad-otel` parses. */
export const otelLogs: Shape = {
  documentation: 'https://opentelemetry.io/docs/specs/otel/logs/data-model/',
  choices: {
    log: [
      { number: 9, text: 'INFO', body: 'Request handled', status: 200 },
      { number: 13, text: 'WARN', body: 'Request was slow', status: 200 },
      { number: 17, text: 'ERROR', body: 'Request failed', status: 500 },
    ],
  },
  record: {
    timestamp: '{time.iso}',
    observed_timestamp: '{time.iso:1}',
    severity_number: '{log.number}',
    severity_text: '{log.text}',
    body: '{log.body}',
    attributes: { 'http.request.method': 'GET', 'http.response.status_code': '{log.status}', 'client.address': '{ip}' },
    trace_id: '{hex:32}',
    span_id: '{hex:16}',
    resource: { attributes: { 'service.name': 'example', 'host.name': '{host}' } },
    scope: { name: 'example' },
  },
};
