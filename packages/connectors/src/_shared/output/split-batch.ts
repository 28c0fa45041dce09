import {
  ConnectorError,
  MAX_REFUSALS,
  type Refusal,
  type Rejection,
  type WriteResult,
} from '@connector-frame/engine/connector-api';

/** The result of one request. Indexes are positions in the batch. */
export type PartResult =
  | WriteResult
  /**
   * The server refused the whole part. `at` is the index within the part of the record at fault, if
   * the server reports it.
   */
  | { partRejection: string; at?: number };

/**
 * Writes the parts of a batch sequentially and collects the result of each record. If a request
 * fails before any part has completed, rethrows its error; otherwise returns that part and all
 * later ones for a retry. Stops when the server refuses one part after another: the engine decides
 * when to send the rest, and splits the parts that were refused.
 *
 * @param parts record indexes, one array per request
 */
export async function writeParts(
  parts: readonly (readonly number[])[],
  write: (indexes: readonly number[]) => Promise<PartResult>,
): Promise<WriteResult> {
  const rejected: Rejection[] = [];
  const refused: Refusal[] = [];
  let retry: WriteResult['retry'];
  let inARow = 0;
  const result = (rest: { unsent?: readonly number[]; retry?: WriteResult['retry'] } = {}): WriteResult => {
    const last = rest.retry ?? retry;
    const indexes = [...(retry?.indexes ?? []), ...(rest.retry?.indexes ?? [])];
    return {
      ...(rejected.length > 0 && { rejected }),
      ...(refused.length > 0 && { refused }),
      ...(rest.unsent && rest.unsent.length > 0 && { unsent: rest.unsent }),
      ...(last && { retry: { ...last, indexes } }),
    };
  };
  for (const [number, part] of parts.entries()) {
    const after = (): number[] => parts.slice(number + 1).flat();
    let outcome: PartResult;
    try {
      outcome = await write(part);
    } catch (error) {
      if (!(error instanceof ConnectorError) || number === 0) throw error;
      return result({ retry: toRetry(error, [...part, ...after()]) });
    }
    if ('partRejection' in outcome) {
      const { partRejection: reason, at } = outcome;
      const index = at === undefined ? undefined : part[at];
      refused.push({ indexes: part, reason, ...(index !== undefined && { at: index }) });
      inARow += 1;
      if (inARow >= MAX_REFUSALS) return result({ unsent: after() });
      continue;
    }
    inARow = 0;
    rejected.push(...(outcome.rejected ?? []));
    const more = outcome.retry;
    if (more?.throttled) return result({ retry: { ...more, indexes: [...more.indexes, ...after()] } });
    if (more) retry = { ...more, indexes: [...(retry?.indexes ?? []), ...more.indexes] };
  }
  return result();
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
