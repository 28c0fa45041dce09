/** Reads values of unknown shape: fields of configurations and response bodies. */
import { isRecord } from '@connector-frame/engine/connector-api';

/** Returns the value at `path`, following own properties only, or `undefined`. */
export function at(source: unknown, ...path: string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/**
 * Returns the non-empty string at `path`, trimmed: pasted values often carry surrounding
 * whitespace.
 */
export function text(source: unknown, ...path: string[]): string | undefined {
  const value = at(source, ...path);
  const trimmed = typeof value === 'string' ? value.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}

export function texts(source: unknown, ...path: string[]): string[] {
  const value = at(source, ...path);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** Parses the body as JSON; `undefined` if it is not valid JSON. */
export async function json(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}
