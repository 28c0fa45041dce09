import type { ErrorType } from '../http/api-error.js';

/** A request that is not taken in: what its sender is told. The sentence is ours, with nothing of the request in it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    readonly options: { headers?: Record<string, string>; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
  }
}

/** Come again after so many seconds, with all of it. */
export const later = (status: 429 | 503, type: ErrorType, message: string, seconds: number): Refusal =>
  new Refusal(status, type, message, { headers: { 'Retry-After': String(seconds) } });
