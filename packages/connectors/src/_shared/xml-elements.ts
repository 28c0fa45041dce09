import { Parser } from 'htmlparser2';

interface XmlElement {
  name: string;
  text: string;
  /** Text of the first child of each name. */
  children: Map<string, string>;
}

/**
 * Reading stops at this depth. S3's responses have a depth of five; the parser's time grows with
 * the square of the depth.
 */
const MAX_DEPTH = 32;

/** Returns the text of the first element with this name, or `undefined`. */
export function element(xml: string, name: string): string | undefined {
  let text: string | undefined;
  readElements(xml, (each) => {
    if (each.name === name) text ??= each.text;
  });
  return text;
}

/** Returns each element with this name: the texts of its children by their names. */
export function elements(xml: string, name: string): ReadonlyMap<string, string>[] {
  const found: Map<string, string>[] = [];
  readElements(xml, ({ name: each, children }) => {
    if (each === name) found.push(children);
  });
  return found;
}

/**
 * Calls `read` at the end of each element. Ignores elements without an end, so that a truncated
 * response keeps those before. Entities that the document declares are not expanded.
 */
function readElements(xml: string, read: (element: XmlElement) => void): void {
  const open: XmlElement[] = [];
  const parser = new Parser(
    {
      onopentagname(name) {
        open.push({ name, text: '', children: new Map() });
        if (open.length === MAX_DEPTH) parser.pause();
      },
      ontext(text) {
        const inner = open.at(-1);
        if (inner) inner.text += text;
      },
      onclosetag(_name, implied) {
        const closed = open.pop();
        if (!closed || implied) return;
        const siblings = open.at(-1)?.children;
        if (siblings && !siblings.has(closed.name)) siblings.set(closed.name, closed.text);
        read(closed);
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
}
