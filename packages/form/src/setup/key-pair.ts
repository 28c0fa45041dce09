const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;

/** A sequence with version 0 and the algorithm rsaEncryption: what PKCS #8 has in front of PKCS #1. */
const RSA_ENCRYPTION = [
  0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/** Returns a DER value with its tag and length. */
function der(tag: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const length =
    content.length < 128 ? [content.length] : [0x82, Math.floor(content.length / 256), content.length % 256];
  return Uint8Array.from([tag, ...length, ...content]);
}

const toPkcs8 = (pkcs1: Uint8Array): Uint8Array<ArrayBuffer> =>
  der(0x30, Uint8Array.from([...RSA_ENCRYPTION, ...der(0x04, pkcs1)]));

const toBase64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)));

/**
 * Returns the public key of a private RSA key as the Base64 of its SubjectPublicKeyInfo, or undefined
 * for anything else.
 *
 * @param pem `BEGIN PRIVATE KEY` (PKCS #8) or `BEGIN RSA PRIVATE KEY` (PKCS #1)
 */
export async function publicKeyOf(pem: string): Promise<string | undefined> {
  const [, label, body] =
    /^\s*-----BEGIN (RSA )?PRIVATE KEY-----([\s\w+/=]+)-----END \1?PRIVATE KEY-----\s*$/.exec(pem) ?? [];
  if (body === undefined) return undefined;
  try {
    const content = Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (letter) => letter.charCodeAt(0));
    const pkcs8 = label === undefined ? content : toPkcs8(content);
    const { subtle } = crypto;
    const { kty, n, e } = await subtle.exportKey(
      'jwk',
      await subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign']),
    );
    if (kty === undefined || n === undefined || e === undefined) return undefined;
    const key = await subtle.importKey('jwk', { kty, n, e }, ALGORITHM, true, ['verify']);
    return toBase64(await subtle.exportKey('spki', key));
  } catch {
    return undefined;
  }
}

/** Creates an RSA key of 2,048 bits, and returns the private key as PEM. */
export async function createPrivateKey(): Promise<string> {
  const { subtle } = crypto;
  const parameters = { ...ALGORITHM, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
  const { privateKey } = await subtle.generateKey(parameters, true, ['sign', 'verify']);
  const lines = toBase64(await subtle.exportKey('pkcs8', privateKey)).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}
