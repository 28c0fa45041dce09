import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import createQrCode from 'qrcode-generator';
import type { Clock } from '../clock.js';
import type { Vault } from '../secrets/vault.js';

/** Name of the service in authenticator apps. */
const ISSUER = 'Connector Frame';
const PERIOD = 30;
const DIGITS = 6;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Time steps before and after the current one whose codes are accepted. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** Characters of a recovery code: 50 random bits, without those that look alike. */
const RECOVERY_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const RECOVERY_LENGTH = 10;

/** One-time codes of an authenticator app (TOTP, RFC 6238), and recovery codes. */
export interface SecondFactor {
  /** Returns a new secret in base32. */
  newSecret(): string;
  /** Returns the address that an authenticator app reads from a QR code. */
  uri(secret: string, account: string): string;
  /**
   * Returns the time step of a code, or `undefined` if it is not valid now. The caller must accept each
   * step once.
   */
  stepOf(secret: string, code: string): number | undefined;
  seal(userId: string, secret: string): Buffer;
  /** @throws SealError if it was changed or belongs to another user */
  open(userId: string, sealed: Uint8Array): string;
  /** Returns new recovery codes, and the digests to store. */
  newRecoveryCodes(userId: string): { codes: string[]; digests: string[] };
  recoveryDigest(userId: string, code: string): string;
}

export function createSecondFactor(vault: Vault, clock: Clock): SecondFactor {
  const recoveryDigest: SecondFactor['recoveryDigest'] = (userId, code) => {
    const text = code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
    return vault.digest('recovery-code', `${userId} ${text}`).toString('base64url');
  };

  return {
    newSecret: () => new Secret({ size: SECRET_BYTES }).base32,

    uri: (secret, account) => totpOf(secret, account).toString(),

    stepOf(secret, code) {
      const timestamp = clock.now();
      const delta = totpOf(secret, '').validate({ token: code, timestamp, window: WINDOW });
      return delta === null ? undefined : Math.floor(timestamp / 1_000 / PERIOD) + delta;
    },

    seal: (userId, secret) => vault.sealOwn(place(userId), secret),
    open: (userId, sealed) => vault.openOwn(place(userId), sealed),

    newRecoveryCodes(userId) {
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
      return { codes, digests: codes.map((code) => recoveryDigest(userId, code)) };
    },

    recoveryDigest,
  };
}

const totpOf = (secret: string, label: string): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD,
    secret: Secret.fromBase32(secret),
  });

const place = (userId: string): string[] => ['totp', userId];

function newRecoveryCode(): string {
  const text = [...randomBytes(RECOVERY_LENGTH)].map((byte) => RECOVERY_ALPHABET[byte % 32]).join('');
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/** Returns whether what a person entered has the form of a code of an authenticator app. */
export const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text);

/** A QR code: the number of modules of a side, and the path of the dark ones in SVG. */
export interface QrCode {
  size: number;
  path: string;
}

/** Returns the QR code of a text. */
export function qrCodeOf(text: string): QrCode {
  const code = createQrCode(0, 'M');
  code.addData(text);
  code.make();
  const size = code.getModuleCount();
  const cells = Array.from({ length: size * size }, (_, index) => [index % size, Math.floor(index / size)] as const);
  const path = cells.map(([x, y]) => (code.isDark(y, x) ? `M${x} ${y}h1v1h-1z` : '')).join('');
  return { size, path };
}
