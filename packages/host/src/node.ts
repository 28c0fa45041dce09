import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { addressOf, toRequest } from './to-request.js';

export { toRequest };

/** A fetch-style handler; `matches` says which addresses are its own. */
export type FetchHandler<Message> = ((request: Request, context: Message) => Promise<Response>) & {
  matches?(address: string): boolean;
};

/** A `node:http` listener that is Connect-style middleware too. */
export type NodeHandler<Message> = (
  message: Message,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Mounts a fetch-style handler on `node:http`, as a listener or as middleware (Express): with `next`, addresses that are not
 * the handler's own go on to it, and so do failures. The handler's context is the incoming message, with whatever earlier
 * middleware put there (`req.user`, `req.session`).
 */
export function toNodeHandler<Message extends IncomingMessage = IncomingMessage>(
  handler: FetchHandler<Message>,
): NodeHandler<Message> {
  return (message, response, next) => {
    if (next && handler.matches?.(addressOf(message)) === false) {
      next();
      return;
    }
    void answer(handler, message, response, next);
  };
}

async function answer<Message extends IncomingMessage>(
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

async function send(answer: Response, message: IncomingMessage, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (!message.complete) {
    // Drain the unread body: closing the connection early would lose the response.
    response.setHeader('connection', 'close');
    message.resume();
  }
  if (!answer.body || message.method === 'HEAD') response.end();
  else await sendBody(answer.body, response);
}

/** Writes the chunks as they arrive, and cancels the body if the client disconnects. */
async function sendBody(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  if (response.destroyed) return cancel();
  response.once('close', cancel);
  return pipeline(piecesOf(reader), response);
}

async function* piecesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
