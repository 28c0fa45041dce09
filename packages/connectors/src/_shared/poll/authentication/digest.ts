import { createHash, randomBytes } from 'node:crypto';

/** A challenge of RFC 7616, section 3.3. */
export interface DigestChallenge {
  realm: string;
  nonce: string;
  opaque?: string;
  algorithm: string;
  /** `auth`, `auth-int`, or absent as in RFC 2069. */
  qop?: 'auth' | 'auth-int';
  stale: boolean;
}

/** The request that a digest is for. */
export interface DigestRequest {
  method: string;
  /** Path and query, as sent. */
  uri: string;
  body?: string | Uint8Array | undefined;
}

/**
 * By preference. Without SHA-512-256: the RFC's example and implementations disagree about what it is
 * (erratum 4897).
 */
const HASHES = new Map([
  ['SHA-256', 'sha256'],
  ['MD5', 'md5'],
]);
const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/**
 * Parses `WWW-Authenticate` and returns the strongest digest challenge in it, or `undefined` if there is
 * none that is supported.
 */
export function parseChallenge(header: string): DigestChallenge | undefined {
  const starts = [...header.matchAll(/(?:^|,\s*)([A-Za-z]+)\s+(?=[\w-]+\s*=)/g)];
  const challenges = starts.flatMap((start, index): DigestChallenge[] => {
    if (start[1]?.toLowerCase() !== 'digest') return [];
    const text = header.slice(start.index + start[0].length, starts[index + 1]?.index);
    const challenge = challengeIn(text);
    return challenge ? [challenge] : [];
  });
  const rank = ({ algorithm }: DigestChallenge): number => [...HASHES.keys()].indexOf(baseOf(algorithm));
  return challenges.sort((a, b) => rank(a) - rank(b))[0];
}

function challengeIn(text: string): DigestChallenge | undefined {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(PARAMETER))
    found.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1'));
  const nonce = found.get('nonce');
  const algorithm = found.get('algorithm')?.toUpperCase() ?? 'MD5';
  const offered = found
    .get('qop')
    ?.split(',')
    .map((each) => each.trim().toLowerCase());
  const qop = offered?.includes('auth') ? 'auth' : offered?.includes('auth-int') ? 'auth-int' : undefined;
  if (nonce === undefined || !HASHES.has(baseOf(algorithm)) || (offered && qop === undefined)) return undefined;
  const opaque = found.get('opaque');
  return {
    realm: found.get('realm') ?? '',
    nonce,
    algorithm,
    stale: found.get('stale')?.toLowerCase() === 'true',
    ...(opaque !== undefined && { opaque }),
    ...(qop && { qop }),
  };
}

const baseOf = (algorithm: string): string => algorithm.replace(/-SESS$/, '');

/**
 * Returns the `Authorization` header for a request (RFC 7616, section 3.4).
 *
 * @param count how often the nonce was used, this time included
 */
export function digestHeader(
  challenge: DigestChallenge,
  { user, password }: { user: string; password: string },
  { method, uri, body = '' }: DigestRequest,
  count: number,
  cnonce = randomBytes(16).toString('hex'),
): string {
  const { realm, nonce, opaque, algorithm, qop } = challenge;
  const digest = (data: string | Uint8Array): string =>
    createHash(HASHES.get(baseOf(algorithm)) ?? 'md5')
      .update(data)
      .digest('hex');
  const hash = (...parts: readonly string[]): string => digest(parts.join(':'));
  const nc = count.toString(16).padStart(8, '0');
  const secret = hash(user, realm, password);
  const a1 = algorithm.endsWith('-SESS') ? hash(secret, nonce, cnonce) : secret;
  const a2 = qop === 'auth-int' ? hash(method, uri, digest(body)) : hash(method, uri);
  const response = qop ? hash(a1, nonce, nc, cnonce, qop, a2) : hash(a1, nonce, a2);
  // RFC 7616, section 3.4.4: only ASCII fits into a quoted string.
  const isAscii = /^[\x20-\x7e]*$/.test(user);
  const fields = [
    isAscii ? `username=${quote(user)}` : `username*=UTF-8''${encodeURIComponent(user)}`,
    `realm=${quote(realm)}`,
    `uri=${quote(uri)}`,
    `algorithm=${algorithm.replace(/-SESS$/, '-sess')}`,
    `nonce=${quote(nonce)}`,
    ...(qop ? [`nc=${nc}`, `qop=${qop}`] : []),
    ...(qop || algorithm.endsWith('-SESS') ? [`cnonce=${quote(cnonce)}`] : []),
    `response=${quote(response)}`,
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
  ];
  return `Digest ${fields.join(', ')}`;
}

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
