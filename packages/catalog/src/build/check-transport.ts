/**
 * Requires a mark on every field that decides how secrets are protected in transit. A rule over
 * names finds these fields, so that a new one can't be forgotten.
 */
import type { ConnectorTypeData } from '../types.js';
import { isPlain, own } from '../validate/objects.js';
import { isGroup, isUnion, variantsOf } from '../validate/schema.js';
import { isText } from './words.js';
import type { Problem } from './problem.js';
import type { SourceFile } from './read-sources.js';
import { fieldsOf, type VisitedField } from './walk.js';

/**
 * An entry of `not-transport.json`: a field that the rule matches by name although it protects no
 * secret.
 */
export interface NotTransport {
  /** JSON Pointer from the config, with `*` for a row: `/settings/http_path`. */
  path: string;
  /** Title of the field, so that another field at the same path requires a new decision. */
  title: string;
  reason: string;
}

// Broad on purpose: a false positive costs one line with a reason; a false negative allows a
// downgrade that exposes a stored secret.
const ANYWHERE =
  /tls|ssl|insecure|verif|certificate|sasl|encrypt|proxy|proxies|cipher|plain_?text|clear_?text|finger_?print|thumb_?print|trust_?store|key_?store|kerberos|gssapi|host[ _]?name|protocol|mechanism/;
const AS_A_WORD =
  /^(ca|cas|crts?|certs?|pem|pkcs\d*|p12|pfx|https?|schemes?|secure|unsafe|trust|trusted|trusts|mech|logmech|plain|sni|ssh|socks\d?|tunnel|known|pin|pins|pinning|ntlm|ldaps?|spnego|krb5)$/;
const CONNECTION_SECURITY = /^security$|^(connection|transport|channel|link) security$|security[ _](mode|type|method)/;

const textsOf = ({ field, path, secret }: VisitedField): string[] => [
  ...path.split('/'),
  field.title ?? '',
  // A secret in PEM format is a private key; a setting in PEM format is a certificate.
  ...(field.type === 'string' && field.format === 'pem' && !secret ? ['pem'] : []),
  ...(field.type === 'string' ? (field.enum ?? []) : []),
  ...(isUnion(field) ? variantsOf(field).map(({ value }) => value) : []),
];

/**
 * Returns whether the name, path, format or a choice of a field suggests that it protects data in
 * transit.
 */
export const looksLikeTransport = (visited: VisitedField): boolean =>
  textsOf(visited).some((text) => {
    const snake = text.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
    return (
      ANYWHERE.test(snake) ||
      CONNECTION_SECURITY.test(snake) ||
      snake.split(/[^a-z0-9]+/).some((word) => AS_A_WORD.test(word))
    );
  });

/** Reads the exceptions in `not-transport.json`. */
export function readNotTransport({ file, value }: SourceFile): { entries: NotTransport[]; problems: Problem[] } {
  const entries: NotTransport[] = [];
  const problems: Problem[] = [];
  if (!Array.isArray(value)) return { entries, problems: [{ file, pointer: '', message: 'must be a list' }] };
  value.forEach((entry: unknown, index) => {
    const [path, title, reason] = ['path', 'title', 'reason'].map((key) => own(entry, key));
    const known = isPlain(entry) && Object.keys(entry).length === 3;
    if (known && isText(path) && typeof title === 'string' && isText(reason)) entries.push({ path, title, reason });
    else problems.push({ file, pointer: `/${String(index)}`, message: 'must be { "path", "title", "reason" }' });
  });
  return { entries, problems };
}

/**
 * Checks the transport marks of a type with secrets. Adds the exceptions that applied to `used`.
 */
export function checkTransport(
  file: string,
  data: ConnectorTypeData,
  exceptions: readonly NotTransport[],
  used: Set<NotTransport>,
): Problem[] {
  const problems: Problem[] = [];
  if (Object.keys(data.config.secrets.properties).length === 0) return problems;
  const marked: string[] = [];
  for (const visited of fieldsOf(data)) {
    const { pointer, path, field, inRow } = visited;
    const add = (message: string): void => void problems.push({ file, pointer, message });
    const within = marked.some((above) => path.startsWith(`${above}/`));
    if (field['x-destination'] || field['x-transport']) {
      if (inRow) add('is marked inside a row: mark the list instead, it stands for all of its rows');
      if (field['x-destination'] && field['x-transport'])
        add('has "x-destination" and "x-transport": an address is a destination, anything else is transport');
      if (!isUnion(field)) marked.push(path);
      continue;
    }
    // The fields of groups and rows are checked one by one.
    if (within || isGroup(field) || !looksLikeTransport(visited)) continue;
    const exception = exceptions.find((each) => each.path === path && each.title === (field.title ?? ''));
    if (exception) used.add(exception);
    else
      add(
        'looks like it decides how secrets are protected on their way: mark it "x-transport": true, or say in not-transport.json why it does not',
      );
  }
  return problems;
}

/** Reports exceptions that no type needs. */
export const unusedExceptions = (
  file: string,
  exceptions: readonly NotTransport[],
  used: ReadonlySet<NotTransport>,
): Problem[] =>
  exceptions.flatMap((entry, index) =>
    used.has(entry)
      ? []
      : [{ file, pointer: `/${String(index)}`, message: `no field needs this exception (${entry.path}): delete it` }],
  );
