/** Reading values whose shape nobody promised: configurations by field, and answers of the other side. */
import { isRecord } from '../records/record.js';

/** Own property at the end of `path`, or `undefined`. */
export function at(source: unknown, ...path: string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** A string that is not empty, without the space around it that comes with pasting. */
export function text(source: unknown, ...path: string[]): string | undefined {
  const value = at(source, ...path);
  const trimmed = typeof value === 'string' ? value.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}

export function texts(source: unknown, ...path: string[]): string[] {
  const value = at(source, ...path);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The body as JSON, or `undefined` when it is none. */
export async function json(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}
