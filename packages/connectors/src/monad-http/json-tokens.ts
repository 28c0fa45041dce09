/**
 * Scans JSON tokens (RFC 8259) in bytes. Each function returns the offset after the token, or `-1`
 * if the token is invalid. If the input ends within the token, the result is the input's length or
 * more.
 */

/** 1: whitespace between tokens. */
export const SPACE = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) SPACE[byte] = 1;

/** 1: ends a run of plain characters in a string, or is not allowed in a string. */
const SPECIAL = new Uint8Array(256);
SPECIAL.fill(1, 0, 0x20);
SPECIAL[0x22] = 1;
SPECIAL[0x5c] = 1;

/** 1: may follow a backslash. */
const ESCAPED = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) ESCAPED[letter] = 1;

const HEX = new Uint8Array(256);
for (const digit of Buffer.from('0123456789abcdefABCDEF')) HEX[digit] = 1;

const WORDS = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')];

/** Returns the offset after a string whose opening quote is just before `from`. */
export function afterText(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    while (SPECIAL[bytes[at] ?? 0] === 0) at += 1;
    const byte = bytes[at];
    if (byte === 0x22) return at + 1;
    if (byte === undefined) return at + 1;
    if (byte !== 0x5c) return -1;
    const next = bytes[at + 1];
    if (next === 0x75) {
      for (let digit = 2; digit < 6; digit += 1) {
        const hex = bytes[at + digit];
        if (hex === undefined) return bytes.length + 1;
        if (HEX[hex] !== 1) return -1;
      }
      at += 6;
    } else {
      if (next === undefined) return bytes.length + 1;
      if (ESCAPED[next] !== 1) return -1;
      at += 2;
    }
  }
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Returns the offset after a number, `true`, `false` or `null` that starts at `from`. */
export function afterScalar(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === 0x2d || isDigit(first)) return afterNumber(bytes, from);
  const word = WORDS.find((each) => each[0] === first);
  if (!word) return -1;
  for (let index = 1; index < word.length; index += 1) {
    const byte = bytes[from + index];
    if (byte === undefined) return bytes.length + 1;
    if (byte !== word[index]) return -1;
  }
  return from + word.length;
}

function afterNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  if (bytes[at] === 0x2d) at += 1;
  if (bytes[at] === 0x30) at += 1;
  else {
    at = afterDigits(bytes, at);
    if (at < 0) return at;
  }
  if (bytes[at] === 0x2e) {
    at = afterDigits(bytes, at + 1);
    if (at < 0) return at;
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at += 1;
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at += 1;
    at = afterDigits(bytes, at);
  }
  return at;
}

function afterDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  if (at > from) return at;
  return at >= bytes.length ? bytes.length + 1 : -1;
}
