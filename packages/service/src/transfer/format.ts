import { z } from 'zod';

/**
 * The file of an export: lines of JSON, compressed with gzip.
 *
 *     {"format":"connector-frame-export","version":1,"schema_version":17,...}
 *     {"section":"file","path":"streams/..."}      a file of the engine's folder
 *     {"data":"<base64>"}                          its content, any number of lines
 *     {"end":"file","count":<bytes>,"sha256":"<hex>"}
 *     {"section":"table","name":"organizations"}
 *     {"row":{...}}                                any number of lines
 *     {"end":"table","count":<rows>,"sha256":"<hex>","digest":"<count and hash of the rows>"}
 *     {"end":"export","count":<sections>,"sha256":"<hex>"}
 *
 * The checksum of a section covers its lines from the first one to the one before its end, with
 * their line feeds. The checksum of the export covers all lines before the last one. Files come before
 * tables: an import writes the tables in one transaction.
 */
export const FORMAT = 'connector-frame-export';
export const VERSION = 1;

/** Version of a file of any release, read before the rest. */
export const AnyHeader = z.object({ format: z.literal(FORMAT), version: z.int() });

export const Header = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  schema_version: z.int().min(1),
  exported_at: z.string(),
  /** The keys that its secrets need. */
  master_key_ids: z.array(z.string()),
  /** Name of the engine whose folder it contains; `null` if none has run. */
  engine: z.string().nullable(),
});
export type Header = z.output<typeof Header>;

const count = z.int().min(0);
const sha256 = z.string();

/** Lines other than the header, rows and data. */
export const Control = z.union([
  z.object({
    section: z.literal('file'),
    path: z.string(),
    /** Id of the master key that encrypts the content. */
    sealed_by: z.string().optional(),
  }),
  z.object({ section: z.literal('table'), name: z.string() }),
  z.object({ end: z.literal('file'), count, sha256 }),
  z.object({ end: z.literal('table'), count, sha256, digest: z.string() }),
  z.object({ end: z.literal('export'), count, sha256 }),
]);
export type Control = z.output<typeof Control>;

export const ROW_PREFIX = '{"row":';
export const DATA_PREFIX = '{"data":"';
export const rowLine = (row: string): string => `${ROW_PREFIX}${row}}`;
export const dataLine = (bytes: Buffer): string => `${DATA_PREFIX}${bytes.toString('base64')}"}`;

/** Context of a sealed file of the engine's folder, and purpose of the key that seals it. */
export const sealContext = (path: string): string[] => ['exported file', path];
export const SEAL_PURPOSE = 'exported files';
