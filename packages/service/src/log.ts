import { pino, type DestinationStream, type Logger } from 'pino';

const secretNames = [
  'authorization',
  'x-api-key',
  'cookie',
  'key',
  'token',
  'session_token',
  'password',
  'secret',
  'secrets',
  'value',
  'config',
];

/**
 * One JSON object per line. Nothing secret is meant to reach a log line; should it, under one of the usual names, it is
 * replaced there.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[redacted]',
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
