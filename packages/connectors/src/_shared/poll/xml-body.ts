import { Parser } from 'htmlparser2';
import type { JsonValue } from '@connector-frame/engine/connector-api';

/**
 * The parser's time grows with the square of the depth. Responses of vendors are less than ten
 * elements deep.
 */
const MAX_DEPTH = 32;

interface Element {
  name: string;
  text: string;
  content: Record<string, JsonValue[]>;
  /** Index of the end of its start tag. */
  start: number;
}

/**
 * Parses XML to an object with the root element. An element becomes an object of its attributes
 * (`@name`) and children; elements of the same name become a list; one with text only becomes the
 * text. Prefixes of namespaces are dropped. Entities that the document declares are not expanded.
 *
 * @throws an error if it is malformed or too deep
 */
export function parseXml(xml: string): JsonValue {
  const root: Element = { name: '', text: '', content: {}, start: -1 };
  const open = [root];
  let malformed = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const content: Element['content'] = Object.create(null);
        for (const [key, value] of Object.entries(attributes)) content[`@${localName(key)}`] = [value];
        open.push({ name: localName(name), text: '', content, start: parser.endIndex });
        if (open.length <= MAX_DEPTH) return;
        malformed = true;
        parser.pause();
      },
      ontext(text) {
        const inner = open.at(-1);
        if (inner) inner.text += text;
      },
      onclosetag(_name, implied) {
        const closed = open.pop();
        const parent = open.at(-1);
        // An end is implied by `<a/>`, and by a missing end tag.
        const isMissing = implied && closed?.start !== parser.endIndex;
        if (isMissing || !closed || !parent) malformed = true;
        else (parent.content[closed.name] ??= []).push(valueOf(closed));
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  if (malformed || open.length > 1 || Object.keys(root.content).length !== 1) throw new Error('malformed XML');
  return valueOf(root);
}

function valueOf({ text, content }: Element): JsonValue {
  const names = Object.entries(content).map(([name, values]): [string, JsonValue] => [
    name,
    values.length === 1 ? (values[0] ?? null) : values,
  ]);
  const trimmed = text.trim();
  if (names.length === 0) return trimmed;
  return Object.fromEntries(trimmed === '' ? names : [...names, ['#text', trimmed]]);
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
