import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

/** The server side of SCRAM (RFC 5802). */
export class Scram {
  /** The authenticated user. */
  user: string | undefined;
  #claimed = '';
  #first = '';
  readonly #salt = randomBytes(16);

  constructor(
    private readonly hash: 'sha256' | 'sha512',
    private readonly users: Readonly<Record<string, string>>,
  ) {}

  reply(message: string): Buffer | undefined {
    const part = (name: string, text = message): string => new RegExp(`(?:^|,)${name}=([^,]*)`).exec(text)?.[1] ?? '';
    if (this.#first === '') {
      this.#claimed = part('n');
      const bare = message.replace(/^n,,/, '');
      this.#first = `${bare},r=${part('r', bare)}${randomBytes(8).toString('hex')},s=${this.#salt.toString('base64')},i=4096`;
      return Buffer.from(this.#first.slice(bare.length + 1));
    }
    const password = Object.hasOwn(this.users, this.#claimed) ? (this.users[this.#claimed] ?? '') : randomBytes(8);
    const salted = pbkdf2Sync(password, this.#salt, 4096, this.hash === 'sha512' ? 64 : 32, this.hash);
    const sign = (key: Buffer, text: string): Buffer => createHmac(this.hash, key).update(text).digest();
    const exchange = `${this.#first},${message.replace(/,p=.*$/, '')}`;
    const stored = createHash(this.hash).update(sign(salted, 'Client Key')).digest();
    const signature = sign(stored, exchange);
    const proof = Buffer.from(part('p'), 'base64');
    const key = Buffer.from(signature.map((byte, index) => byte ^ (proof[index] ?? 0)));
    if (!timingSafeEqual(createHash(this.hash).update(key).digest(), stored)) return undefined;
    this.user = this.#claimed;
    return Buffer.from(`v=${sign(sign(salted, 'Server Key'), exchange).toString('base64')}`);
  }
}
