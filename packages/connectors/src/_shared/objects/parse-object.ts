import { createParser, type FormatOptions, type Found } from '../formats/index.js';
import { unpack, type Compression } from '../unpack.js';

/** What was found in a part of an object. */
export interface Parsed {
  found: Found[];
  /** Number of characters. */
  length: number;
}

/**
 * Parses the bytes of an object as they arrive.
 * @throws ContentError, and what `bytes` throws
 */
export async function* parseObject(
  bytes: AsyncGenerator<Uint8Array, void, void>,
  settings: FormatOptions & { compression: Compression },
): AsyncGenerator<Parsed, void, void> {
  const parser = createParser(settings);
  const decoder = new TextDecoder();
  for await (const chunk of unpack(bytes, settings.compression)) {
    const text = decoder.decode(chunk, { stream: true });
    yield { found: parser.push(text), length: text.length };
  }
  yield { found: [...parser.push(decoder.decode()), ...parser.end()], length: 0 };
}
