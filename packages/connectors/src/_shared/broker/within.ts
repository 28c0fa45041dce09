import { ConnectorError } from '@connector-frame/engine/connector-api';

const WRITE_MS = 30_000;

/**
 * Waits for a write. Unlike `Promise.race` with a promise of the connection, it leaves nothing
 * behind that would grow with each write.
 *
 * @param canceled aborted when the engine cancels the write
 * @param over aborted when the connection ends
 * @throws ConnectorError
 */
export async function within<T>(
  work: Promise<T>,
  { canceled, over, product }: { canceled: AbortSignal; over: AbortSignal; product: string },
): Promise<T> {
  const done = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    const on = (signal: AbortSignal, error: ConnectorError): void => {
      if (signal.aborted) reject(error);
      else signal.addEventListener('abort', () => reject(error), { signal: done.signal });
    };
    on(canceled, new ConnectorError('stopped', 'The write was canceled.'));
    on(over, new ConnectorError('connect_failed', `${product} closed the connection.`));
    const late = new ConnectorError('timeout', `${product} did not respond in time.`);
    timer = setTimeout(() => reject(late), WRITE_MS);
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
