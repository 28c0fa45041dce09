import type { Batch } from '../../records/batch.js';
import { EndError, type Refusal, type WriteResult } from '../../runner/ends.js';

/** How often a batch is halved in one go to find what is refused; the rest comes again. One bad record takes nine. */
const MAX_SPLITS = 200;
/** Parts that were turned away. */
const REMEMBERED = 2_000;

/** What became of one request. Indexes are those of the batch. */
export type PartResult =
  | WriteResult
  /**
   * All of it was turned away because of something in it. `at`: the place of that record in the part, where the other side
   * tells; otherwise the part is halved until it stands alone.
   */
  | { unwanted: string; at?: number };

/**
 * Writes parts of a batch one after the other, and gathers what became of each record. A part that fails is thrown when
 * nothing was settled before; otherwise it and all after it are to be tried again.
 * @param parts indexes of records, each part for one request
 */
export type WriteInParts = (
  batch: Batch,
  parts: readonly (readonly number[])[],
  write: (indexes: readonly number[]) => Promise<PartResult>,
) => Promise<WriteResult>;

/** For one output: it remembers what was turned away, so that a failure on the way to a bad record costs no step twice. */
export function createPartWriter(): WriteInParts {
  const unwanted = new Set<string>();
  const remember = (id: string): void => {
    unwanted.add(id);
    for (const oldest of unwanted) {
      if (unwanted.size <= REMEMBERED) return;
      unwanted.delete(oldest);
    }
  };

  return async (batch, parts, write) => {
    const todo = parts.toReversed();
    const refused: Refusal[] = [];
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
      return { ...(refused.length > 0 && { refused }), ...(last && { retry: { ...last, indexes } }) };
    };
    for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
      if (part.length > 1 && unwanted.size > 0 && unwanted.has(batch.pick(part).id)) {
        halve(part);
        continue;
      }
      let outcome: PartResult;
      try {
        outcome = await write(part);
      } catch (error) {
        if (!(error instanceof EndError) || settled === 0) throw error;
        return result(again(error, [...part, ...rest()]));
      }
      if ('unwanted' in outcome) {
        const { unwanted: reason } = outcome;
        const at = part.length === 1 ? 0 : outcome.at;
        const index = at === undefined ? undefined : part[at];
        if (index !== undefined && at !== undefined) {
          refused.push({ index, reason });
          // What stood before it was not acknowledged either. It goes by itself, so that it comes twice at most.
          todo.push(...[part.slice(at + 1), part.slice(0, at)].filter((side) => side.length > 0));
        } else if (splits < MAX_SPLITS) {
          remember(batch.pick(part).id);
          halve(part);
          splits += 1;
          continue;
        } else {
          const why = 'what is refused among them is still looked for';
          return result({ indexes: [...part, ...rest()], reason: why, afterMs: 0 });
        }
      } else {
        refused.push(...(outcome.refused ?? []));
        const more = outcome.retry;
        if (more?.throttled) return result({ ...more, indexes: [...more.indexes, ...rest()] });
        if (more) retry = { ...more, indexes: [...(retry?.indexes ?? []), ...more.indexes] };
      }
      settled += 1;
    }
    return result();
  };
}

/** A failure that is only for some of the batch. */
export function again(error: EndError, indexes: readonly number[]): NonNullable<WriteResult['retry']> {
  return {
    indexes,
    reason: error.message.replace(/\.$/, ''),
    ...(error.afterMs !== undefined && { afterMs: error.afterMs }),
    ...(error.kind === 'throttled' && { throttled: true }),
  };
}

/** Indexes in parts of so many records and so many bytes at most; one that is larger alone is a part of its own. */
export function partsOf(sizes: readonly number[], maxRecords: number, maxBytes: number): number[][] {
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
