import { EgressError } from './error.js';

/** Limits of a response body, and what happens beyond them. */
export interface BodyBounds {
  maxBytes: number;
  overflow: 'reject' | 'truncate';
}

/** An incoming body that can be aborted. */
export interface IncomingBody extends AsyncIterable<Uint8Array> {
  destroy(error: Error): unknown;
}

/** Reads a whole body. `whole`: the body was read to its end, so the connection can be reused. */
export async function readBody(
  body: IncomingBody,
  { maxBytes, overflow }: BodyBounds,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; whole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes && overflow === 'reject') throw tooLarge(maxBytes);
    chunks.push(chunk);
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

export interface StreamOptions extends BodyBounds {
  /** Maximum milliseconds between two chunks. */
  silenceMs: number;
  /** The caller's signal: aborts the body with its reason. */
  signal: AbortSignal | undefined;
  /** Maps a connection error to the error that the reader receives. */
  explain: (error: unknown) => unknown;
  /** Called once when the body ends. `whole`: as in `readBody`. */
  done: (whole: boolean) => void;
}

/** Returns the body as a stream. It reads from the connection only when the consumer pulls. */
export function streamBody(body: IncomingBody, options: StreamOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { maxBytes, overflow, silenceMs, signal, explain } = options;
  const chunks = body[Symbol.asyncIterator]();
  let size = 0;
  let over = false;
  const stop = (): void => void body.destroy(signal?.reason instanceof Error ? signal.reason : new Error('stopped'));
  const finish = (whole: boolean): void => {
    if (over) return;
    over = true;
    signal?.removeEventListener('abort', stop);
    options.done(whole);
  };
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();

  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        let silent: EgressError | undefined;
        const timer = setTimeout(() => {
          silent = new EgressError('timeout', `no data for ${silenceMs} ms`);
          body.destroy(silent);
        }, silenceMs);
        try {
          const next = await chunks.next();
          if (next.done) {
            finish(true);
            controller.close();
            return;
          }
          size += next.value.byteLength;
          if (size > maxBytes && overflow === 'reject') throw tooLarge(maxBytes);
          const excess = Math.max(0, size - maxBytes);
          controller.enqueue(new Uint8Array(next.value.subarray(0, next.value.byteLength - excess)));
          if (excess === 0) return;
          finish(false);
          controller.close();
        } catch (error) {
          finish(false);
          controller.error(signal?.aborted ? signal.reason : (silent ?? explain(error)));
        } finally {
          clearTimeout(timer);
        }
      },
      cancel: () => finish(false),
    },
    { highWaterMark: 0 },
  );
}

const tooLarge = (maxBytes: number): EgressError =>
  new EgressError('too_large', `the response is longer than ${maxBytes} bytes`);
