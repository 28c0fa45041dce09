import { constants, gunzipSync } from 'node:zlib';

/** Returns every string in a value, at any depth. */
export function secretsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsOf) : [];
}

/**
 * Returns the encoded forms of a secret, by encoding. Base64 of `user:password` depends on the
 * length of the prefix, so there are three forms, each without the characters shared with
 * neighboring bytes.
 */
export function encodingsOf(secret: string): Record<string, string[]> {
  const bytes = Buffer.from(secret);
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const json = JSON.stringify(secret).slice(1, -1);
  return {
    plain: [secret],
    base64: aligned,
    base64url: aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex: [bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    percent: [encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)],
    json: [json, JSON.stringify(json).slice(1, -1)],
  };
}

/** Returns the same forms as a list without duplicates. */
export const encodings = (secret: string): string[] => [...new Set(Object.values(encodingsOf(secret)).flat())];

export interface Leak {
  secret: string;
  encoding: string;
  location: string;
}

/**
 * Searches places for secrets in every encoding, including inside gzip members.
 * @param secrets by name; a secret shorter than eight characters could match by chance and is an
 *   error
 */
export function findLeaks(
  secrets: Readonly<Record<string, string>>,
  places: Readonly<Record<string, string | Uint8Array>>,
): Leak[] {
  const contents = Object.entries(places).map(
    ([location, content]) => [location, unpacked(Buffer.from(content))] as const,
  );
  const found: Leak[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret.length < 8) throw new Error(`The secret ${name} is too short to be searched for.`);
    for (const [encoding, forms] of Object.entries(encodingsOf(secret))) {
      for (const [location, content] of contents) {
        if (forms.some((form) => content.includes(form))) found.push({ secret: name, encoding, location });
      }
    }
  }
  return found;
}

/** Returns the bytes, followed by the contents of each gzip member in them. */
function unpacked(content: Buffer): Buffer {
  const parts: Buffer[] = [content];
  for (let at = content.indexOf('1f8b08', 0, 'hex'); at >= 0; at = content.indexOf('1f8b08', at + 1, 'hex')) {
    try {
      parts.push(gunzipSync(content.subarray(at), { maxOutputLength: 64 * 1024 * 1024 }));
    } catch {
      // Not a gzip member, or one with trailing bytes.
      parts.push(beginningOf(content.subarray(at)));
    }
  }
  return parts.length === 1 ? content : Buffer.concat(parts);
}

/** Decompresses as much as possible of a truncated member. */
function beginningOf(member: Buffer): Buffer {
  try {
    return gunzipSync(member, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
  } catch {
    return Buffer.alloc(0);
  }
}
