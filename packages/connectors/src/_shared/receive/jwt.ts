import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import type { ConnectorConfig, ReceiveAuthentication } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, RequestError, type ReceiverContext } from '@connector-frame/engine/connector-api';
import { isSameSecret } from './compare.js';
import { ReplayGuard } from './replay-guard.js';
import { refused, signatureOf, type SenderCheck } from './sender-check.js';
import { headerOf } from './templates.js';

type JwtMethod = Extract<ReceiveAuthentication, { kind: 'jwt' }>;

/** Keys that are kept. A vendor has a handful. */
const MAX_KEYS = 20;
/** Milliseconds until a key is requested again: it may have been withdrawn. */
const KEY_AGE_MS = 15 * 60_000;
/** Requests for keys within `KEY_AGE_MS`: the id of a key is chosen by the sender. */
const MAX_REQUESTS = 60;
const KEY_TIMEOUT_MS = 10_000;
const ALGORITHMS = {
  ES256: { hash: 'sha256', type: 'ec', curve: 'prime256v1', dsaEncoding: 'ieee-p1363' },
  RS256: { hash: 'sha256', type: 'rsa', curve: undefined, dsaEncoding: 'der' },
} as const;

interface Kept {
  key: KeyObject | undefined;
  at: number;
}

interface Jwt {
  kid: string;
  claims: Readonly<Record<string, unknown>>;
  signed: string;
  signature: Buffer;
}

const noKey = (): RequestError =>
  new RequestError(503, 'The key of this signature is not available at the moment. Retry later.');

/** Checks requests that a vendor signs with a JWT over the hash of the body. */
export function createJwtCheck(method: JwtMethod, config: ConnectorConfig, context: ReceiverContext): SenderCheck {
  if (method.only_if !== undefined && getAt(config, method.only_if) === false)
    return { begin: () => undefined, verify: () => Promise.resolve(undefined) };
  const { clock } = context;
  const replays = new ReplayGuard(method.max_age_seconds * 1_000, clock);
  const keys = createKeys(method, config, context);
  return {
    begin(head) {
      const { claims } = parse(headerOf(head, method.header), method.algorithm);
      if (typeof claims['iat'] !== 'number' || !replays.isRecent(claims['iat'] * 1_000))
        throw refused('the time of the signature is too far from the current time');
    },
    async verify(body, head) {
      const text = headerOf(head, method.header);
      const { kid, claims, signed, signature } = parse(text, method.algorithm);
      const hash = createHash('sha256').update(body).digest('hex');
      if (!isSameSecret(String(claims[method.body_claim]), hash)) throw refused('the signature is for another body');
      const key = await keys(kid);
      const { hash: algorithm, dsaEncoding } = ALGORITHMS[method.algorithm];
      const isValid = key !== undefined && verify(algorithm, Buffer.from(signed), { key, dsaEncoding }, signature);
      if (!isValid) throw refused('the signature is not valid');
      // An ECDSA signature can be changed and stays valid, so the signed part identifies the request.
      return signatureOf(signed, replays);
    },
  };
}

function parse(text: string, algorithm: JwtMethod['algorithm']): Jwt {
  const [, head = '', body = '', signature = ''] =
    /^([\w-]{1,2000})\.([\w-]{1,4000})\.([\w-]{1,1000})$/.exec(text) ?? [];
  const header = jsonIn(head);
  const claims = jsonIn(body);
  const kid = header?.['kid'];
  // The algorithm is fixed: a sender may not choose a weaker one, or none.
  if (!claims || header?.['alg'] !== algorithm || typeof kid !== 'string' || !/^[\w.:-]{1,200}$/.test(kid))
    throw refused('there is no signature of the expected kind');
  return { kid, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, 'base64url') };
}

function jsonIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns keys by id, from memory or from the vendor.
 * @throws RequestError 503 if the vendor does not respond as documented
 */
function createKeys(
  { key: source, algorithm }: JwtMethod,
  config: ConnectorConfig,
  { egress, clock }: ReceiverContext,
): (kid: string) => Promise<KeyObject | undefined> {
  const kept = new Map<string, Kept>();
  const pending = new Map<string, Promise<KeyObject | undefined>>();
  let requests: number[] = [];

  async function request(kid: string): Promise<KeyObject | undefined> {
    const now = clock.now();
    requests = requests.filter((at) => now - at < KEY_AGE_MS);
    if (requests.length >= MAX_REQUESTS) throw noKey();
    requests.push(now);
    const body = Object.fromEntries(
      Object.entries(source.json).map(([name, text]) => [
        name,
        text === '{{kid}}' ? kid : text.startsWith('/') ? getAt(config, text) : text,
      ]),
    );
    const response = await egress.fetch(source.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: KEY_TIMEOUT_MS,
      repeatable: true,
    });
    // The vendor knows no such key, so it has not signed the request.
    if (response.status === 400 || response.status === 404) return undefined;
    if (response.status !== 200) throw noKey();
    const answer: unknown = await response.json();
    const expired = getAt(answer, source.expired);
    if (typeof expired === 'number' && expired * 1_000 <= now) return undefined;
    return publicKey(getAt(answer, source.path), algorithm);
  }

  return async (kid) => {
    const known = kept.get(kid);
    if (known && clock.now() - known.at < KEY_AGE_MS) return known.key;
    let asked = pending.get(kid);
    if (!asked) {
      asked = request(kid).finally(() => pending.delete(kid));
      pending.set(kid, asked);
    }
    try {
      const key = await asked;
      kept.delete(kid);
      kept.set(kid, { key, at: clock.now() });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEYS && oldest !== undefined) kept.delete(oldest);
      return key;
    } catch (error) {
      throw error instanceof RequestError ? error : noKey();
    }
  };
}

/** Returns the key of a JWK, if it is one for this algorithm. */
function publicKey(jwk: unknown, algorithm: JwtMethod['algorithm']): KeyObject | undefined {
  if (!isRecord(jwk)) return undefined;
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const { type, curve } = ALGORITHMS[algorithm];
    const fits = key.asymmetricKeyType === type && key.asymmetricKeyDetails?.namedCurve === curve;
    return fits ? key : undefined;
  } catch {
    return undefined;
  }
}
