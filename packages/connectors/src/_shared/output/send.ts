import { ConnectorError, type Egress, EgressError, type EgressInit } from '@connector-frame/engine/connector-api';
import { egressFailure } from './failures.js';

/** Timeout of one request, in milliseconds. It may carry half a megabyte to a busy server. */
const TIMEOUT_MS = 30_000;
/** Maximum bytes of a response body; anything beyond is discarded. */
const MAX_RESPONSE = 64 * 1024;

const decoder = new TextDecoder();

/** A complete response. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The body as it was received. */
  bytes?: Uint8Array;
}

export interface SendOptions extends Pick<
  EgressInit,
  'headers' | 'body' | 'verifyTls' | 'ca' | 'maxBytes' | 'redirect'
> {
  url: string;
  /** Default `POST`. */
  method?: string;
  /** Milliseconds. Default 30,000. */
  timeoutMs?: number;
  /** Name as used in a sentence: `Splunk`, `the server`. */
  product: string;
}

/**
 * Sends one request of an output and reads the whole response; a response that breaks off is an
 * error. Delivery is at least once anyway, so the request is marked repeatable: it may be resent if
 * a pooled connection turns out to be closed.
 *
 * @throws ConnectorError, or the reason of `signal`
 */
export async function send(
  egress: Egress,
  { url, method = 'POST', product, maxBytes = MAX_RESPONSE, timeoutMs = TIMEOUT_MS, ...init }: SendOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    const response = await egress.fetch(url, {
      ...init,
      method,
      signal,
      maxBytes,
      overflow: 'truncate',
      timeoutMs,
      repeatable: true,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, text: decoder.decode(bytes), bytes };
  } catch (error) {
    if (error instanceof EgressError) throw egressFailure(error.reason, product);
    throw error;
  }
}

/** The batch can't be written because of the connector's configuration. */
export function invalidConfig(message: string): ConnectorError {
  return new ConnectorError('invalid_config', message, 'permanent');
}
