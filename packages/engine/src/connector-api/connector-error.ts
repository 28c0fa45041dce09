/**
 * - `retry`: temporary, a retry may succeed
 * - `throttled`: the remote side applied rate limiting
 * - `permanent`: will fail until a person intervenes; retried at intervals of up to minutes
 */
export type FailureKind = 'retry' | 'throttled' | 'permanent';

/**
 * An error of an input or output. The message is shown to users: written by us, without secrets.
 */
export class ConnectorError extends Error {
  readonly code: string;
  readonly kind: FailureKind;
  readonly afterMs: number | undefined;
  override readonly name = 'ConnectorError';
  /** @param afterMs milliseconds the remote side asked to wait */
  constructor(code: string, message: string, kind: FailureKind = 'retry', afterMs?: number, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.kind = kind;
    this.afterMs = afterMs;
  }
}

export interface Failure {
  code: string;
  message: string;
  kind: FailureKind;
  afterMs?: number;
  /** A person is needed, although it is retried like a temporary failure. */
  needsAttention?: boolean;
}

/**
 * Converts any thrown value to a failure that is safe to show. Omits the text of unknown errors: it
 * may contain sent data.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof ConnectorError) {
    const { code, message, kind, afterMs } = error;
    return { code, message, kind, ...(afterMs !== undefined && { afterMs }) };
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';
  const name = error instanceof Error ? error.name : 'an error';
  return { code: /^\w{1,40}$/.test(code) ? code : 'unexpected', message: `It failed with ${name}.`, kind: 'retry' };
}
