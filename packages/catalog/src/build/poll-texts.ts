/** Strings of a `poll` definition and the placeholders in them. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';

/** Yields every string in a value with its pointer. */
export function* textsIn(value: unknown, pointer: string): Generator<{ pointer: string; text: string }> {
  if (typeof value === 'string') yield { pointer, text: value };
  else if (Array.isArray(value) || isPlain(value))
    for (const [key, each] of Object.entries(value)) yield* textsIn(each, joinPointer(pointer, key));
}

/** Returns the names inside `{{...}}`, without the type that a value is converted to. */
export const placeholdersIn = (text: string): string[] =>
  [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, inner = '']) => inner.replace(/\|(?:text|number|path)$/, ''));

/** Returns the names inside `{{...}}`, without the letter case that a text is converted to. */
export const namesIn = (text: string): string[] =>
  placeholdersIn(text).map((name) => name.replace(/^(?!(?:since|until):)(.*):(?:lower|upper)$/, '$1'));
