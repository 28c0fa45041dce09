import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { ApiError } from '../api-error.js';
import { Semaphore } from '../semaphore.js';

/** Cost of a password hash: scrypt with N = 2 ** `logN`. */
export interface PasswordCost {
  logN: number;
  r: number;
  p: number;
}

/**
 * 64 MiB per hash.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt
 */
export const DEFAULT_PASSWORD_COST: PasswordCost = { logN: 16, r: 8, p: 2 };

const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Hashes that are computed at the same time, which limits their memory. */
const MAX_CONCURRENT = 2;
/** Hashes that may wait, so that a flood of attempts does not become a queue of minutes. */
const MAX_WAITING = 50;
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const;

/** Hashes and verifies passwords with scrypt. */
export interface Passwords {
  /** Returns a hash with its salt and cost as text. @throws ApiError 503 if too many are waiting */
  hash(password: string): Promise<string>;
  /**
   * Returns whether a password has this hash. Without a hash, it takes as long and returns false, so
   * that the time does not tell whether an account exists.
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Returns whether a hash has another cost than new ones. */
  isOutdated(hash: string): boolean;
}

export function createPasswords(cost: PasswordCost = DEFAULT_PASSWORD_COST): Passwords {
  const slots = new Semaphore(MAX_CONCURRENT);
  let waiting = 0;
  const prefix = `scrypt$${cost.logN}$${cost.r}$${cost.p}$`;
  async function derive(password: string, salt: Buffer, { logN, r, p }: PasswordCost): Promise<Buffer> {
    if (waiting >= MAX_WAITING) {
      const headers = { 'Retry-After': '10' };
      throw new ApiError(503, 'unavailable', 'Too many sign-ins are in progress. Retry later.', { headers });
    }
    waiting += 1;
    try {
      return await slots.run(() => {
        const N = 2 ** logN;
        const options = { N, r, p, maxmem: 128 * r * (N + p) + 1_048_576 };
        return scryptKey(password.normalize('NFKC'), salt, options);
      });
    } finally {
      waiting -= 1;
    }
  }
  const anySalt = randomBytes(SALT_BYTES);

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return `${prefix}${salt.toString('base64url')}$${(await derive(password, salt, cost)).toString('base64url')}`;
    },

    async verify(password, hash) {
      const stored = hash === undefined ? undefined : parse(hash);
      const key = await derive(password, stored?.salt ?? anySalt, stored?.cost ?? cost);
      return stored !== undefined && timingSafeEqual(key, stored.key);
    },

    isOutdated: (hash) => !hash.startsWith(prefix),
  };
}

const scryptKey = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

function parse(hash: string): { cost: PasswordCost; salt: Buffer; key: Buffer } | undefined {
  const [, logN, r, p, salt = '', key = ''] =
    /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]{43})$/.exec(hash) ?? [];
  if (logN === undefined) return undefined;
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}

/**
 * Returns what is wrong with a new password, as a sentence, or `undefined`. There are no rules about
 * kinds of characters: they make passwords predictable (NIST SP 800-63B, 3.1.1.2).
 */
export function passwordProblem(password: string, { email, username }: { email: string; username: string }) {
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min) return `Use at least ${min} characters. A sentence is easy to remember.`;
  if (password.length > max) return `Use at most ${max} characters.`;
  const text = password.toLowerCase();
  if (new Set(text).size < 5) return 'Use more different characters.';
  const [local = ''] = email.split('@');
  // The longest first: the others are parts of it.
  const known = [email, username.toLowerCase().replaceAll(/\s/g, ''), local].filter((part) => part.length >= 4);
  const rest = known.reduce((left, part) => left.replaceAll(part, ''), text.replaceAll(/\s/g, ''));
  if (rest.length < min / 2) return 'Do not use your name or your e-mail address.';
  const unusual = COMMON.reduce((left, word) => left.replaceAll(word, ''), rest);
  if (unusual.length < min / 2) return 'This password is too easy to guess.';
  return undefined;
}

/** Parts of the most common passwords; longer ones first. */
const COMMON = ['password', 'passwort', '1234567890', '123456789', '12345678', '123456', 'qwertyuiop', 'qwerty'].concat(
  ['abcdefgh', 'letmein', 'welcome', 'iloveyou', 'admin', 'changeme', '111111', '000000'],
);
