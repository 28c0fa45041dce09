import { EgressError } from './error.js';

/** What is given of an answer's body. */
export interface BodyBounds {
  maxBytes: number;
  longer: 'refuse' | 'cut';
}

/** A body as it comes, which can be broken off. */
export interface IncomingBody extends AsyncIterable<Uint8Array> {
  destroy(error: Error): unknown;
}

/** All of it. `whole`: the connection has nothing more of it to bring. */
export async function readBody(
  body: IncomingBody,
  { maxBytes, longer }: BodyBounds,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; whole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes && longer === 'refuse') throw tooLarge(maxBytes);
    chunks.push(chunk);
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

export interface StreamOptions extends BodyBounds {
  /** Milliseconds between two parts. */
  silenceMs: number;
  /** Of the caller: breaks it off with its reason. */
  signal: AbortSignal | undefined;
  /** What is told of an error that came from below. */
  explain: (error: unknown) => unknown;
  /** Called once. `whole`: as above. */
  done: (whole: boolean) => void;
}

/** The body, read from the connection only as fast as it is asked for. */
export function streamBody(body: IncomingBody, options: StreamOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { maxBytes, longer, silenceMs, signal, explain } = options;
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
          silent = new EgressError('timeout', `nothing came for ${silenceMs} ms`);
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
          if (size > maxBytes && longer === 'refuse') throw tooLarge(maxBytes);
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
  new EgressError('too_large', `the answer is longer than ${maxBytes} bytes`);
