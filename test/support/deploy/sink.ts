import { createServer } from 'node:http';

/** An HTTP destination on the loopback interface. It counts records by their `n`. */
export interface Sink {
  origin: string;
  /** Number of times each record arrived. */
  arrived: Map<number, number>;
  /** Values of the header `x-key`. */
  keys: Set<string>;
  clear(): void;
  close(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
  const arrived = new Map<number, number>();
  const keys = new Set<string>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      keys.add(String(request.headers['x-key']));
      for (const { n } of JSON.parse(body) as { n: number }[]) arrived.set(n, (arrived.get(n) ?? 0) + 1);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    arrived,
    keys,
    clear() {
      arrived.clear();
      keys.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
