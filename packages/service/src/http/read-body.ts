import { ApiError, invalidRequest } from '../api-error.js';

/** Maximum size of a body, in bytes. */
const MAX_BODY = 256 * 1024;
const MAX_DEPTH = 20;
const MAX_VALUES = 2_000;
const MAX_TEXT = 64 * 1024;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export interface Body {
  /** The raw text of the body. */
  text: string;
  value: unknown;
}

/**
 * Reads a JSON body and enforces its limits: size, depth, number of values, and length of strings.
 * @throws ApiError 413, 415 or 400
 */
export async function readBody(request: Request): Promise<Body> {
  requireUnencoded(request);
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?\s*)?$/i.test(request.headers.get('content-type') ?? '')) {
    throw unsupported('Send JSON, with Content-Type: application/json.');
  }
  const text = await readText(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
  checkValue(value);
  return { text, value };
}

/**
 * Reads a text body and enforces its limits.
 * @throws ApiError 413, 415 or 400
 */
export async function readTextBody(request: Request): Promise<Body> {
  requireUnencoded(request);
  if (!/^text\/plain(?:\s*;\s*charset="?utf-8"?\s*)?$/i.test(request.headers.get('content-type') ?? ''))
    throw unsupported('Send text, with Content-Type: text/plain.');
  const text = await readText(request);
  return { text, value: text };
}

/**
 * Reads the fields of a form and enforces its limits. A field that occurs more than once is rejected.
 * @throws ApiError 413, 415 or 400
 */
export async function readFormBody(request: Request): Promise<Body> {
  requireUnencoded(request);
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded(?:\s*;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw unsupported('Send a form, with Content-Type: application/x-www-form-urlencoded.');
  const text = await readText(request);
  const fields = [...new URLSearchParams(text)];
  const value = Object.fromEntries(fields);
  if (Object.keys(value).length !== fields.length) throw invalidRequest('The form contains a field more than once.');
  checkValue(value);
  return { text, value };
}

function requireUnencoded(request: Request): void {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity')
    throw unsupported('Send the body as it is, without Content-Encoding.');
}

async function readText(request: Request): Promise<string> {
  const length = request.headers.get('content-length');
  if (Number(length) > MAX_BODY) throw tooLarge();
  if (length !== null) {
    // Node reads no more than Content-Length bytes.
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength > MAX_BODY) throw tooLarge();
    return decode(bytes);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY) throw tooLarge();
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: ArrayBuffer | Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest('The body is not valid UTF-8.');
  }
}

/**
 * Rejects values that no legitimate client sends, and that a database or an object merge cannot
 * handle.
 */
function checkValue(root: unknown): void {
  let values = 0;
  const visit = (value: unknown, depth: number): void => {
    values += 1;
    if (values > MAX_VALUES) throw invalidRequest(`The body contains more than ${MAX_VALUES} values.`);
    if (typeof value === 'string') checkText(value);
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw invalidRequest('The body contains a number that is out of range.');
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= MAX_DEPTH) throw invalidRequest(`The body is nested deeper than ${MAX_DEPTH} levels.`);
      if (Array.isArray(value)) for (const item of value) visit(item, depth + 1);
      else {
        for (const [key, item] of Object.entries(value)) {
          if (FORBIDDEN_KEYS.has(key)) throw invalidRequest('The body contains a key that is not allowed.');
          checkText(key);
          visit(item, depth + 1);
        }
      }
    }
  };
  visit(root, 0);
}

function checkText(text: string): void {
  if (text.length > MAX_TEXT) throw invalidRequest(`The body contains a string longer than ${MAX_TEXT} characters.`);
  // PostgreSQL can store neither of these. Reject them here, with a clear message.
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) {
    throw invalidRequest('The body contains a string with a null character or a lone surrogate.');
  }
}

const unsupported = (message: string): ApiError => new ApiError(415, 'unsupported_media_type', message);
const tooLarge = (): ApiError => new ApiError(413, 'payload_too_large', 'The body is larger than 256 KiB.');
