import { type Batch, ConnectorError, type Rejection, type WriteResult } from '@connector-frame/engine/connector-api';

/**
 * Maximum number of halvings per write to find rejected records; the rest is left for a retry.
 * Isolating one record of 500 takes nine.
 */
const MAX_SPLITS = 200;
/** Maximum number of rejected parts to remember. */
const REMEMBERED = 2_000;

/** The result of one request. Indexes are positions in the batch. */
export type PartResult =
  | WriteResult
  /**
   * The server rejected the whole part because of a record in it. `at` is that record's index
   * within the part, if the server reports it; otherwise the part is halved until the record is
   * isolated.
   */
  | { partRejection: string; at?: number };

/**
 * Writes the parts of a batch sequentially and collects the result of each record. If a request
 * fails before any part has completed, rethrows its error; otherwise returns that part and all
 * later ones for a retry.
 *
 * @param parts record indexes, one array per request
 */
export type WriteParts = (
  batch: Batch,
  parts: readonly (readonly number[])[],
  write: (indexes: readonly number[]) => Promise<PartResult>,
) => Promise<WriteResult>;

/**
 * Creates the writer of one output. It remembers rejected parts, so that the search for a bad
 * record continues where it stopped if a request fails in between.
 */
export function createPartWriter(): WriteParts {
  const rejectedIds = new Set<string>();
  const remember = (id: string): void => {
    rejectedIds.add(id);
    for (const oldest of rejectedIds) {
      if (rejectedIds.size <= REMEMBERED) return;
      rejectedIds.delete(oldest);
    }
  };

  return async (batch, parts, write) => {
    const todo = parts.toReversed();
    const rejected: Rejection[] = [];
    let retry: WriteResult['retry'];
    let settled = 0;
    let splits = 0;
    const halve = (part: readonly number[]): void => {
      const middle = Math.ceil(part.length / 2);
      todo.push(part.slice(middle), part.slice(0, middle));
    };
    const rest = (): number[] => todo.toReversed().flat();
    const result = (more?: WriteResult['retry']): WriteResult => {
      const indexes = [...(retry?.indexes ?? []), ...(more?.indexes ?? [])];
      const last = more ?? retry;
      return { ...(rejected.length > 0 && { rejected }), ...(last && { retry: { ...last, indexes } }) };
    };
    for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
      if (part.length > 1 && rejectedIds.size > 0 && rejectedIds.has(batch.pick(part).id)) {
        halve(part);
        continue;
      }
      let outcome: PartResult;
      try {
        outcome = await write(part);
      } catch (error) {
        if (!(error instanceof ConnectorError) || settled === 0) throw error;
        return result(toRetry(error, [...part, ...rest()]));
      }
      if ('partRejection' in outcome) {
        const { partRejection: reason } = outcome;
        const at = part.length === 1 ? 0 : outcome.at;
        const index = at === undefined ? undefined : part[at];
        if (index !== undefined && at !== undefined) {
          rejected.push({ index, reason });
          // The records before it were not acknowledged either. Sending them as a separate part
          // ensures that they are written twice at most.
          todo.push(...[part.slice(at + 1), part.slice(0, at)].filter((side) => side.length > 0));
        } else if (splits < MAX_SPLITS) {
          remember(batch.pick(part).id);
          halve(part);
          splits += 1;
          continue;
        } else {
          const why = 'the search for rejected records continues';
          return result({ indexes: [...part, ...rest()], reason: why, afterMs: 0 });
        }
      } else {
        rejected.push(...(outcome.rejected ?? []));
        const more = outcome.retry;
        if (more?.throttled) return result({ ...more, indexes: [...more.indexes, ...rest()] });
        if (more) retry = { ...more, indexes: [...(retry?.indexes ?? []), ...more.indexes] };
      }
      settled += 1;
    }
    return result();
  };
}

/** Converts an error into a retry of some records of the batch. */
export function toRetry(error: ConnectorError, indexes: readonly number[]): NonNullable<WriteResult['retry']> {
  return {
    indexes,
    reason: error.message.replace(/\.$/, ''),
    ...(error.afterMs !== undefined && { afterMs: error.afterMs }),
    ...(error.kind === 'throttled' && { throttled: true }),
  };
}

/**
 * Splits record indexes into parts of at most `maxRecords` records and `maxBytes` bytes. A record
 * larger than `maxBytes` becomes a part of its own.
 *
 * @param sizes bytes of each record
 */
export function splitBySize(sizes: readonly number[], maxRecords: number, maxBytes: number): number[][] {
  const parts: number[][] = [];
  let bytes = 0;
  for (const [index, size] of sizes.entries()) {
    const last = parts.at(-1);
    if (last && last.length < maxRecords && bytes + size <= maxBytes) {
      last.push(index);
      bytes += size;
    } else {
      parts.push([index]);
      bytes = size;
    }
  }
  return parts;
}
