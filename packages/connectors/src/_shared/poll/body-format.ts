import type { PollRequest } from '@connector-frame/catalog/types';
import type { JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';
import { DelimitedParser } from '../formats/columns.js';
import { unpackBody } from './unpack-body.js';
import { parseXml } from './xml-body.js';

export type BodyFormat = Pick<PollRequest, 'format' | 'csv' | 'page_line'>;

/**
 * Parses a response body. Several files in a zip archive are read as one list. With `page_line`, that line
 * and the others are `page` and `records`.
 *
 * @returns `null` if it is empty
 * @throws an error if it does not have the format
 */
export async function parseBody(bytes: Buffer, format: BodyFormat): Promise<JsonValue> {
  if (bytes.length < 4 && bytes.toString().trim() === '') return null;
  const files = await unpackBody(bytes);
  const texts = files.map(decode).filter((text) => text.trim() !== '');
  const [first, ...more] = texts.map((text) => parseText(text, format));
  const value =
    more.length === 0 ? (first ?? null) : [first ?? [], ...more].flatMap((each) => (isList(each) ? each : [each]));
  if (format.page_line === undefined || !isList(value)) return value;
  const records = format.page_line === 'first' ? value.slice(1) : value.slice(0, -1);
  return { page: value.at(format.page_line === 'first' ? 0 : -1) ?? null, records };
}

/** Parses the body of a response; `undefined` if it does not have the format. */
export async function parsedBody(response: Response, format: BodyFormat): Promise<JsonValue | undefined> {
  try {
    return await parseBody(Buffer.from(await response.arrayBuffer()), format);
  } catch {
    return undefined;
  }
}

/** `Accept` header by format. */
export const ACCEPTED: Readonly<Record<NonNullable<BodyFormat['format']>, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson, application/json, */*',
  csv: 'text/csv, */*',
  xml: 'application/xml, text/xml, */*',
  lines: 'text/plain, */*',
};

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** Decodes UTF-8, or UTF-16 as Microsoft products export it, without the byte order mark. */
function decode(bytes: Buffer): string {
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes);
}

function parseText(text: string, { format = 'json', csv = {} }: BodyFormat): JsonValue {
  if (format === 'json') return parseExact(text);
  if (format === 'xml') return parseXml(text);
  // Any text could be one of the other formats, also the page of a proxy.
  if (/^\s*<(?:!doctype|html)/i.test(text)) throw new Error('a web page');
  if (format === 'csv') return parseCsv(text, csv);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return format === 'ndjson' ? lines.map(parseExact) : lines.map((message) => ({ message }));
}

function parseCsv(
  text: string,
  { delimiter = ',', columns = [], comment, header, skip = 0 }: NonNullable<BodyFormat['csv']>,
): JsonValue {
  const [comments, rows] = splitComments(withoutLines(text, skip), comment ?? header);
  const names = header === undefined ? undefined : comments.findLast((line) => line.startsWith(header));
  const stated = names?.slice(header?.length).trim().split(delimiter);
  const parser = new DelimitedParser(stated ?? columns, delimiter);
  return [...parser.push(rows), ...parser.end()].flatMap((found) => ('record' in found ? [found.record] : []));
}

function withoutLines(text: string, count: number): string {
  return count === 0 ? text : text.split('\n').slice(count).join('\n');
}

/** Comments precede the rows; later, the same characters can be part of a quoted cell. */
function splitComments(text: string, comment: string | undefined): [comments: string[], rows: string] {
  if (comment === undefined) return [[], text];
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !line.startsWith(comment));
  const count = first < 0 ? lines.length : first;
  return [lines.slice(0, count), lines.slice(count).join('\n')];
}
