import { EgressError } from './error.js';

/**
 * Runs `work` with a signal that fires on timeout or when one of the callers' signals does. Rejects
 * at that moment even if `work` ignores the signal (a DNS lookup can't be canceled).
 * @param timeoutMs timeout in milliseconds
 */
export async function withDeadline<T>(
  timeoutMs: number,
  callers: AbortSignal | undefined | readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(
    () => controller.abort(new EgressError('timeout', `no response within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const followed = [callers].flat().map((caller) => {
    const follow = (): void => controller.abort(caller?.reason);
    caller?.addEventListener('abort', follow);
    if (caller?.aborted) follow();
    return () => caller?.removeEventListener('abort', follow);
  });
  try {
    signal.throwIfAborted();
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return await Promise.race([work(signal), stopped]);
  } finally {
    clearTimeout(timer);
    for (const leave of followed) leave();
  }
}
