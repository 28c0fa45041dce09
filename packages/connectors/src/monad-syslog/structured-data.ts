import type { JsonValue } from '@connector-frame/engine/connector-api';

/** Parsed STRUCTURED-DATA of RFC 5424. */
export interface StructuredData {
  /** Values by element id and parameter name; a repeated element or parameter becomes a list. */
  elements: Record<string, JsonValue>;
  end: number;
}

const NAME_END = /[ =\]"]/g;

/**
 * Parses `[id name="value" ...]...` at offset `from`. RFC 5424, section 6.3.
 *
 * @returns `undefined` if the text is not valid structured data
 */
export function structuredDataAt(text: string, from: number): StructuredData | undefined {
  const elements = new Map<string, JsonValue | JsonValue[]>();
  let at = from;
  while (text[at] === '[') {
    const parameters = new Map<string, JsonValue | JsonValue[]>();
    const idEnd = nameEnd(text, at + 1);
    const id = text.slice(at + 1, idEnd);
    if (id === '') return undefined;
    at = idEnd;
    while (text[at] === ' ') {
      const end = nameEnd(text, at + 1);
      const name = text.slice(at + 1, end);
      if (name === '' || text[end] !== '=' || text[end + 1] !== '"') return undefined;
      const value = valueAt(text, end + 2);
      if (!value) return undefined;
      add(parameters, name, value.value);
      at = value.end;
    }
    if (text[at] !== ']') return undefined;
    at += 1;
    add(elements, id, Object.fromEntries(parameters));
  }
  return at > from ? { elements: Object.fromEntries(elements), end: at } : undefined;
}

function nameEnd(text: string, from: number): number {
  NAME_END.lastIndex = from;
  return NAME_END.exec(text)?.index ?? text.length;
}

/**
 * Reads a value up to its closing quote. A backslash escapes only `"`, `\` and `]`; before any
 * other character it is literal.
 */
function valueAt(text: string, from: number): { value: string; end: number } | undefined {
  let value = '';
  let start = from;
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') return { value: value + text.slice(start, at), end: at + 1 };
    if (letter !== '\\' || !'"\\]'.includes(text[at + 1] ?? 'none')) continue;
    value += text.slice(start, at);
    start = at + 1;
    at += 1;
  }
  return undefined;
}

function add(into: Map<string, JsonValue | JsonValue[]>, name: string, value: JsonValue): void {
  const before = into.get(name);
  if (before === undefined) into.set(name, value);
  else if (isList(before)) before.push(value);
  else into.set(name, [before, value]);
}

const isList = (value: JsonValue | JsonValue[]): value is JsonValue[] => Array.isArray(value);
