import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { Semaphore } from '../semaphore.js';
import type { BodyQuota } from './body-quota.js';
import { later, HttpError } from './http-error.js';

/** Maximum bytes of a request body on the wire, before decompression. */
const MAX_WIRE = 8 * 1024 * 1024;
/** Bodies that are decompressed concurrently; the others wait. */
const MAX_UNPACKING = 4;
/**
 * Bytes of a body above the limit that are read and discarded, so that its sender can read the
 * response.
 */
const MAX_DISCARD = 32 * 1024 * 1024;

const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate) };
type Packing = keyof typeof UNPACK;

/** The sender has disconnected, so there is nothing to respond to. */
export class SenderDisconnected extends Error {
  override readonly name = 'SenderDisconnected';
}

/** A decompressed body. Call `done` when it is no longer needed. */
export interface ReceivedBody {
  bytes: Buffer;
  done: () => void;
}

export type ReceiveBody = (request: IncomingMessage, organizationId: string, maxBytes: number) => Promise<ReceivedBody>;

/**
 * Creates a function that reads bodies within the limits per body, per organization and in total.
 * @throws HttpError, SenderDisconnected
 */
export function createReceiveBody(quota: BodyQuota): ReceiveBody {
  const slots = new Semaphore(MAX_UNPACKING);
  return async (request, organizationId, maxBytes) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const packing = packingOf(encoding);
    const packed = packing !== undefined;
    if (!packed && encoding.toLowerCase() !== 'identity')
      throw new HttpError(415, 'unsupported_media_type', 'Send the body as it is, or with Content-Encoding: gzip.');
    let held = 0;
    const done = (): void => {
      quota.give(organizationId, held);
      held = 0;
    };
    const hold = (bytes: number): void => {
      const result = quota.take(organizationId, bytes);
      if (result === 'own')
        throw later(
          429,
          'rate_limited',
          'This organization has too many bytes in flight. Send fewer concurrent requests.',
          1,
        );
      if (result === 'shared') throw later(503, 'unavailable', 'The server is at capacity. Retry later.', 1);
      held += bytes;
    };
    try {
      const wire = await collect(request, packed ? MAX_WIRE : Math.min(MAX_WIRE, maxBytes), hold, done);
      if (!packed) return { bytes: wire, done };
      const bytes = await slots.run(async () => {
        const whole = await unpack(packing, wire, maxBytes);
        hold(whole.length);
        return whole;
      });
      return { bytes, done };
    } catch (error) {
      done();
      throw error;
    }
  };
}

/** @param drop releases the quota of discarded bytes, so that other requests can use it */
function collect(
  request: IncomingMessage,
  max: number,
  hold: (bytes: number) => void,
  drop: () => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let rejection: unknown;
    const discard = (error: unknown): void => {
      rejection ??= error;
      chunks.length = 0;
      drop();
    };
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > max) discard(tooLarge(max));
    if (declared > MAX_DISCARD) return reject(tooLarge(max));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (rejection === undefined && size > max) discard(tooLarge(max));
      if (rejection !== undefined) return size > MAX_DISCARD ? reject(rejection) : undefined;
      try {
        hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        discard(error);
      }
      return undefined;
    });
    request.once('end', () => {
      if (rejection !== undefined) return reject(rejection);
      const [only] = chunks;
      return resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks, size));
    });
    request.once('error', () => reject(new SenderDisconnected()));
    request.once('close', () => request.complete || reject(new SenderDisconnected()));
    return undefined;
  });
}

function packingOf(encoding: string): Packing | undefined {
  const [, name = ''] = /^(?:x-)?(gzip|deflate)$/i.exec(encoding) ?? [];
  const packing = name.toLowerCase();
  return packing === 'gzip' || packing === 'deflate' ? packing : undefined;
}

async function unpack(packing: Packing, wire: Buffer, max: number): Promise<Buffer> {
  try {
    return await UNPACK[packing](wire, { maxOutputLength: max, chunkSize: 64 * 1024 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(max, 'decompressed ');
    throw new HttpError(
      400,
      'invalid_request',
      `The body does not match its Content-Encoding: it is not valid ${packing}.`,
    );
  }
}

const tooLarge = (max: number, what = ''): HttpError =>
  new HttpError(
    413,
    'payload_too_large',
    `The ${what}body is larger than ${max / 1024 / 1024} MiB. Split it into several requests.`,
    {
      headers: { Connection: 'close' },
    },
  );
