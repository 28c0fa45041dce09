import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { addressOf, toRequest } from './to-request.js';

export { toRequest };

/** A fetch-style handler; `matches` returns whether a URL is one of its routes. */
export type FetchHandler<Message> = ((request: Request, context: Message) => Promise<Response>) & {
  matches?(address: string): boolean;
};

/** A `node:http` listener that is also Connect-style middleware. */
export type NodeHandler<Message> = (
  message: Message,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Mounts a fetch-style handler on `node:http`, as a listener or as middleware (Express). As
 * middleware it passes other routes and errors to `next`. The handler's context is the incoming
 * message, including what earlier middleware added (`req.user`, `req.session`).
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(host)).listen(3000);
 * ```
 */
export function toNodeHandler<Message extends IncomingMessage = IncomingMessage>(
  handler: FetchHandler<Message>,
): NodeHandler<Message> {
  return (message, response, next) => {
    if (next && handler.matches?.(addressOf(message)) === false) {
      next();
      return;
    }
    void handleMessage(handler, message, response, next);
  };
}

async function handleMessage<Message extends IncomingMessage>(
  handler: FetchHandler<Message>,
  message: Message,
  response: ServerResponse,
  next?: (error: unknown) => void,
): Promise<void> {
  try {
    const request = requestOf(message);
    if (request) await send(await handler(request, message), message, response);
    else response.writeHead(400, { connection: 'close' }).end();
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    else if (next) next(error);
    else response.writeHead(500).end();
  }
}

function requestOf(message: IncomingMessage): Request | undefined {
  try {
    return toRequest(message);
  } catch {
    return undefined;
  }
}

async function send(result: Response, message: IncomingMessage, response: ServerResponse): Promise<void> {
  response.statusCode = result.status;
  for (const [name, value] of result.headers) if (name !== 'set-cookie') response.setHeader(name, value);
  const cookies = result.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (!message.complete) {
    // Drain the rest of the body: closing the connection now would lose the response.
    response.setHeader('connection', 'close');
    message.resume();
  }
  if (!result.body || message.method === 'HEAD') response.end();
  else await sendBody(result.body, response);
}

/** Sends chunks as they arrive, and cancels the body when the client disconnects. */
async function sendBody(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  if (response.destroyed) return cancel();
  response.once('close', cancel);
  return pipeline(chunksOf(reader), response);
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
