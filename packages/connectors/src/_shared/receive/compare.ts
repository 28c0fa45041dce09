import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Compares a text with a secret in constant time. Hashes both, so that not even the secret's length
 * shows in the time. An empty secret equals nothing.
 */
export const isSameSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(digest(given), digest(secret)) && secret !== '';
