import { expect, it } from 'vitest';
import type { Field, TextField } from './field.js';
import { normalize } from './normalize.js';

const text: TextField = {
  kind: 'text',
  path: '/x',
  key: 'x',
  label: 'X',
  required: false,
  advanced: false,
  deprecated: false,
  destination: false,
};
const field = (more: object): Field => ({ ...text, ...more });

it.each([
  [text, '  a b\u00a0\n', 'a b'],
  [text, '\t', '\t'],
  [text, 7, 7],
  [field({ format: 'uri' }), 'acme.okta.com', 'https://acme.okta.com'],
  [field({ format: 'uri' }), 'localhost:8080/x', 'https://localhost:8080/x'],
  [field({ format: 'uri' }), 'http://acme.okta.com', 'http://acme.okta.com'],
  [field({ format: 'uri' }), 'ftp://acme', 'ftp://acme'],
  [field({ format: 'uri' }), 'acme', 'acme'],
  [field({ format: 'hostname' }), 'https://db.example.com/', 'db.example.com'],
  [field({ format: 'hostname' }), 'db.example.com/path', 'db.example.com/path'],
  [field({ format: 'host-port' }), 'HTTP://db.example.com:5432/', 'db.example.com:5432'],
  [field({ kind: 'cron' }), ' 0  6 * *   1 ', '0 6 * * 1'],
  [field({ kind: 'number' }), ' 12 ', 12],
  [field({ kind: 'number' }), '-1.50', -1.5],
  [field({ kind: 'number' }), '1e3', '1e3'],
  [field({ kind: 'number' }), '1,000', '1,000'],
  [field({ kind: 'number' }), '', ''],
  [
    field({ kind: 'multiline', format: 'pem' }),
    '"-----BEGIN X-----\\nab\\n-----END X-----\\n"',
    '-----BEGIN X-----\nab\n-----END X-----',
  ],
  [field({ kind: 'secret', shape: 'pem' }), 'a\r\nb', 'a\nb'],
  [field({ kind: 'secret', shape: 'line' }), ' tok ', 'tok'],
  [field({ kind: 'multiline', format: 'json' }), ' {"a": "x\\ny"} ', '{"a": "x\\ny"}'],
])('%j: %j -> %j', (of, value, meant) => {
  expect(normalize(of, value)).toBe(meant);
  expect(normalize(of, meant)).toBe(meant);
});
