import { createServer } from 'node:http';

/** Records received on one path, and the number of batches that were received again. */
export interface Arrived {
  /** Number of times each record was received, by its JSON. */
  counts: Map<string, number>;
  repeatedBatches: number;
}

/** A local HTTP server that receives arrays of records, by path. */
export interface Receiver {
  origin: string;
  at(path: string): Arrived;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const paths = new Map<string, Arrived & { keys: Set<string> }>();
  const at = (path: string) => {
    const known = paths.get(path) ?? { counts: new Map<string, number>(), repeatedBatches: 0, keys: new Set<string>() };
    paths.set(path, known);
    return known;
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    // Ignore requests that the kill interrupted: they are not counted.
    request.on('error', () => undefined);
    request.on('end', () => {
      const arrived = at(request.url ?? '');
      const key = String(request.headers['idempotency-key']);
      if (arrived.keys.has(key)) arrived.repeatedBatches += 1;
      arrived.keys.add(key);
      const records: unknown[] = JSON.parse(body);
      for (const record of records) {
        const text = JSON.stringify(record);
        arrived.counts.set(text, (arrived.counts.get(text) ?? 0) + 1);
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    at,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
