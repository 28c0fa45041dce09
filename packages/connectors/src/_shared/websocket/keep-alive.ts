import type { WebSocket } from 'ws';

/**
 * Pings in an interval, and ends the connection if there is no pong in time. Stops with the
 * connection.
 */
export function keepAlive(client: WebSocket, intervalMs: number | undefined, timeoutMs: number | undefined): void {
  if (intervalMs === undefined) return;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const timer = setInterval(() => {
    client.ping();
    if (timeoutMs !== undefined) waiting ??= setTimeout(() => client.terminate(), timeoutMs);
  }, intervalMs);
  timer.unref();
  client.on('pong', () => {
    clearTimeout(waiting);
    waiting = undefined;
  });
  client.once('close', () => {
    clearInterval(timer);
    clearTimeout(waiting);
  });
}
