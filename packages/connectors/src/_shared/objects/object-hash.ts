import { createHash } from 'node:crypto';
import type { Listed } from './store.js';

/** Characters of a hash in Base64: 48 bits. */
export const HASH = 8;

/** Returns the hash of an object and its content. */
export const hashOf = ({ key, etag }: Pick<Listed, 'key' | 'etag'>): string => hash(`${etag}\n${key}`);
/** Returns the hash of an object, whatever its content is. */
export const keyHashOf = ({ key }: Pick<Listed, 'key'>): string => hash(key);

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, HASH);
