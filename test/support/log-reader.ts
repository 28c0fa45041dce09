import type { App } from '../../packages/service/src/app.js';

/** An entry of a log stream as a client receives it. */
export interface ReadEntry {
  sequence: number;
  time: string;
  code: string;
  message: string;
  pipeline_id?: string;
  node_id?: string;
  [name: string]: unknown;
}

export interface LogReader<Entry = ReadEntry> {
  /** Every entry received, over all connections. */
  readonly entries: Entry[];
  /** Everything received, as text. */
  readonly text: string;
  /** Number of connections opened. */
  readonly connections: number;
  /** Stops reading. */
  stop(): Promise<void>;
}

/**
 * Reads a stream of logs or of other entries as a browser's `EventSource` does: whenever the stream ends, it reconnects with
 * the ID of the last complete event.
 * @param app returns the service to connect to
 * @param cutAfter returns the number of network chunks after which the client drops the connection
 */
export function readLogs<Entry = ReadEntry>(
  app: () => App,
  path: string,
  key: string,
  cutAfter: () => number = () => Infinity,
): LogReader<Entry> {
  const stopped = new AbortController();
  const decoder = new TextDecoder();
  const entries: Entry[] = [];
  let last: string | undefined;
  let connections = 0;
  let text = '';

  function receive(event: string): void {
    const fields = new Map(event.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^\w*: /, '')]));
    const data = fields.get('data');
    if (data === undefined) return;
    entries.push(JSON.parse(data));
    last = fields.get('id');
  }

  async function readOnce(): Promise<void> {
    connections += 1;
    const connection = new AbortController();
    const headers = { 'x-api-key': key, ...(last === undefined ? {} : { 'last-event-id': last }) };
    const response = await app().request(path, {
      headers,
      signal: AbortSignal.any([connection.signal, stopped.signal]),
    });
    if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    const reader = response.body.getReader();
    const stop = (): void => void reader.cancel();
    stopped.signal.addEventListener('abort', stop);
    let rest = '';
    let chunks = cutAfter();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const chunk = decoder.decode(value);
        text += chunk;
        const parts = (rest + chunk).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) receive(part);
        if ((chunks -= 1) <= 0) return;
      }
    } finally {
      stopped.signal.removeEventListener('abort', stop);
      connection.abort();
      await reader.cancel();
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await readOnce();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const running = run();
  running.catch(() => undefined);

  return {
    entries,
    get text() {
      return text;
    },
    get connections() {
      return connections;
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
