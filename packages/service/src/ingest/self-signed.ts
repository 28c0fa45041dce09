import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** A private key and its certificate, both PEM. */
export interface KeyAndCertificate {
  key: string;
  cert: string;
}

const DAY = 86_400_000;
/**
 * Validity in days. It is long because senders are configured only once to trust the certificate.
 */
const VALID_DAYS = 3_650;

// DER types (ITU-T X.690) that a certificate (RFC 5280) consists of.
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const BOOLEAN_TRUE = Buffer.of(0x01, 0x01, 0xff);

function der(type: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  if (length < 0x80) return Buffer.concat([Buffer.of(type, length), body]);
  return Buffer.concat([Buffer.of(type, 0x82, length >> 8, length & 0xff), body]);
}

const oid = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, 'hex'));
// 1.2.840.10045.4.3.2
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const KEY_USAGE = oid('551d0f');
const ALT_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');

/**
 * Creates a self-signed certificate (ECDSA, P-256), valid for ten years. Senders must receive it
 * and trust it.
 * @param hosts names and addresses under which this machine is reached; the first is its common
 *   name
 * @param now milliseconds since the epoch
 */
export function createSelfSigned(hosts: readonly [string, ...string[]], now: number): KeyAndCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(hosts[0])))));
  const serial = randomBytes(16);
  // Keeps the number positive and its length constant.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const extensions = [
    der(SEQUENCE, BASIC_CONSTRAINTS, BOOLEAN_TRUE, der(OCTET_STRING, der(SEQUENCE, BOOLEAN_TRUE))),
    // Key usage: digitalSignature for handshakes, keyCertSign for the certificate itself.
    der(SEQUENCE, KEY_USAGE, BOOLEAN_TRUE, der(OCTET_STRING, der(BIT_STRING, Buffer.of(2, 0x84)))),
    der(SEQUENCE, ALT_NAME, der(OCTET_STRING, der(SEQUENCE, ...hosts.map(altName)))),
  ];
  const content = der(
    SEQUENCE,
    // Version 3.
    der(0xa0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, serial),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, time(now - DAY), time(now + VALID_DAYS * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', content, privateKey));
  const lines = der(SEQUENCE, content, ECDSA_WITH_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.trimEnd()}\n-----END CERTIFICATE-----\n`,
  };
}

function altName(host: string): Buffer {
  return ipaddr.isValid(host)
    ? der(0x87, Buffer.from(ipaddr.parse(host).toByteArray()))
    : der(0x82, Buffer.from(host, 'latin1'));
}

/** Encodes a time as `YYMMDDHHMMSSZ`, which RFC 5280 requires before 2050. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/\D/g, '');
  return der(UTC_TIME, Buffer.from(`${digits.slice(2, 14)}Z`));
}
