import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';

/** Maximum size of a request body in bytes. Real bodies have a few hundred. */
const maxBody = 16 * 1024;

/** Cache lifetime in seconds of responses that are equal for all signed-in users. */
const sharedAge = 60;

/**
 * Creates a JSON response. With `keep`, the browser may cache it for a minute; sessions and lists
 * are never cached.
 */
export function json(body: unknown, { status = 200, headers = {}, keep = false }: JsonOptions = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': keep ? `private, max-age=${sharedAge}` : 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      ...headers,
    },
  });
}

interface JsonOptions {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  keep?: boolean;
}

/** Parses the body as a JSON object. Reads at most 16 KiB. */
export async function readJson(request: Request): Promise<UnknownRecord> {
  const text = await readText(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HostError('invalid_request', 'The body is not JSON.');
  }
  if (!isRecord(value)) throw new HostError('invalid_request', 'The body must be a JSON object.');
  return value;
}

async function readText(request: Request): Promise<string> {
  const reader = request.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new HostError('invalid_request', 'The body ended early.', { cause });
    });
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBody) {
      await reader.cancel();
      throw new HostError('invalid_request', `The body is larger than ${maxBody} bytes.`, { status: 413 });
    }
    text += decoder.decode(value, { stream: true });
  }
}
