/** How backslashes are read: `standard` as escapes, `unescaped` literally. */
export const CEF_DIALECTS = ['standard', 'unescaped'] as const;
export type CefDialect = (typeof CEF_DIALECTS)[number];

export interface ParsedCef {
  readonly version: string;
  /** Vendor, product, version, signature id, name, severity; fewer if the text ends before. */
  readonly header: readonly string[];
  readonly extension: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

const HEADERS = 6;

/**
 * Parses text in the Common Event Format: `CEF:0|vendor|product|version|id|name|severity|key=value`.
 * Text before `CEF:`, such as a syslog header, is ignored.
 * @returns `undefined` if it is no CEF
 */
export function parseCef(text: string, dialect: CefDialect): ParsedCef | undefined {
  const start = text.search(/(?:^|[\s>])CEF:\s?\d/);
  if (start < 0) return undefined;
  const from = text.indexOf('CEF:', start) + 4;
  const { parts, end } = splitHeader(text, from, dialect);
  const [version = '', ...header] = parts;
  const warnings: string[] = [];
  if (header.length < HEADERS) warnings.push(`The header has ${header.length} of ${HEADERS} fields.`);
  const extension = readExtension(text.slice(end), dialect, warnings);
  return { version: version.trim(), header, extension, warnings };
}

/** Splits at the first seven bars that are not escaped. */
function splitHeader(text: string, from: number, dialect: CefDialect): { parts: string[]; end: number } {
  const parts: string[] = [];
  let start = from;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\' && dialect === 'standard') at += 1;
    else if (text[at] === '|') {
      parts.push(unescape(text.slice(start, at), dialect));
      start = at + 1;
      if (parts.length === HEADERS + 1) return { parts, end: start };
    }
  }
  parts.push(unescape(text.slice(start), dialect));
  return { parts, end: text.length };
}

/**
 * A value ends before the next `key=`. Finds the equals signs first, and from each the key before
 * it, in one pass.
 */
function readExtension(text: string, dialect: CefDialect, warnings: string[]): Map<string, string> {
  const fields = new Map<string, string>();
  const keys: { name: string; start: number; valueAt: number }[] = [];
  for (let at = 0, word = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '\\' && dialect === 'standard') at += 1;
    else if (letter === '=' && at > word && isKeyText(text, word, at))
      keys.push({ name: text.slice(word, at), start: word, valueAt: at + 1 });
    else if (letter === ' ' || letter === '\t') word = at + 1;
  }
  const before = text.slice(0, keys[0]?.start ?? text.length).trim();
  if (before !== '') warnings.push('The extension begins with text that belongs to no key.');
  for (const [index, { name, valueAt }] of keys.entries()) {
    const value = unescape(text.slice(valueAt, keys[index + 1]?.start ?? text.length).trim(), dialect);
    if (fields.has(name)) warnings.push('A key occurs twice; the last value is used.');
    fields.set(name, value);
  }
  return fields;
}

/** Only the first equals sign of a word ends a key, so this reads each word once. */
const isKeyText = (text: string, from: number, to: number): boolean =>
  to - from <= 200 && /^[\w.[\]-]+$/.test(text.slice(from, to));

function unescape(text: string, dialect: CefDialect): string {
  if (dialect === 'unescaped' || !text.includes('\\')) return text;
  return text.replaceAll(/\\([\\|=nr])/g, (_all, letter: string) =>
    letter === 'n' ? '\n' : letter === 'r' ? '\r' : letter,
  );
}
