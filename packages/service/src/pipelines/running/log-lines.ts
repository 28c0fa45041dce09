import { isRecord, type LogEntry } from '@connector-frame/engine';

/** Where log entries come from: a pipeline, or the API of an organization. */
export interface LogSource {
  /** `undefined` in files of releases that did not write it, until the pipeline has been read. */
  organizationId: string | undefined;
  /** `undefined` for the API. */
  pipelineId?: string;
}

/** Characters of a stored message. */
const MAX_MESSAGE = 1_000;

/** Returns the key of a source, unique among all. IDs of pipelines contain no colon. */
export const keyOf = ({ organizationId, pipelineId }: LogSource): string => pipelineId ?? `api:${organizationId ?? ''}`;

/** Serializes an entry as one line of the log file. */
export const lineOf = ({ organizationId, pipelineId }: LogSource, entry: LogEntry): string =>
  JSON.stringify({
    ...(pipelineId !== undefined && { pipeline: pipelineId }),
    ...(organizationId !== undefined && { organization: organizationId }),
    ...entry,
    message: entry.message.slice(0, MAX_MESSAGE),
  });

/** Serializes the removal of a source. */
export const removalOf = (source: LogSource): string => JSON.stringify({ removed: keyOf(source) });

/** Entries of one source in a log file, oldest first. */
export interface StoredLog {
  source: LogSource;
  entries: LogEntry[];
}

/**
 * Parses a log file. Skips damaged lines.
 * @param capacity maximum number of entries of a source; up to twice as many are returned
 */
export function storedLogs(text: string, capacity: (source: LogSource) => number): Iterable<StoredLog> {
  const logs = new Map<string, StoredLog>();
  for (const line of text.split('\n')) {
    const value = parse(line);
    if (!isRecord(value)) continue;
    const { pipeline, organization, removed, ...entry } = value;
    if (typeof removed === 'string') logs.delete(removed);
    const source: LogSource = {
      organizationId: typeof organization === 'string' ? organization : undefined,
      ...(typeof pipeline === 'string' && { pipelineId: pipeline }),
    };
    if ((source.pipelineId ?? source.organizationId) === undefined || !isLogEntry(entry)) continue;
    const log = logs.get(keyOf(source)) ?? { source, entries: [] };
    logs.set(keyOf(source), log);
    log.source = source;
    if (entry.sequence > (log.entries.at(-1)?.sequence ?? 0)) log.entries.push(entry);
    if (log.entries.length > 2 * capacity(source)) log.entries.splice(0, capacity(source));
  }
  return logs.values();
}

function parse(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isLogEntry = (value: object): value is LogEntry => {
  const { sequence, at, level, code, message, nodeId, details }: Partial<Record<keyof LogEntry, unknown>> = value;
  return (
    Number.isSafeInteger(sequence) &&
    Number.isSafeInteger(at) &&
    (level === 'info' || level === 'warn' || level === 'error') &&
    typeof code === 'string' &&
    typeof message === 'string' &&
    (nodeId === undefined || typeof nodeId === 'string') &&
    (details === undefined || isRecord(details))
  );
};
