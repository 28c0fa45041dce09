import type { IngestAddress } from './shapes.js';

const otlp =
  '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityText":"INFO","body":{"stringValue":"Hello"}}]}]}]}';

/**
 * Returns a function that builds a shell command which sends one event to an input. IDs and tokens
 * contain no shell metacharacters, so they are not escaped.
 */
export function exampleFor(typeId: string, { url, listens }: IngestAddress): (token: string) => string {
  if (listens) return () => `logger --server ${listens.host} --port ${listens.port} --tcp --rfc5424 'Hello'`;
  const body = typeId === 'monad-otel' ? otlp : '{"message":"Hello"}';
  return (token) =>
    [
      `curl ${url}`,
      `  -H 'authorization: Bearer ${token}'`,
      `  -H 'content-type: application/json'`,
      `  -d '${body}'`,
    ].join(' \\\n');
}
