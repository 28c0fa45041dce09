import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { isErrno } from '../is-errno.js';
import { AnyHeader, Control, DATA_PREFIX, Header, ROW_PREFIX, VERSION } from './format.js';
import { TransferError } from './transfer-error.js';

/** What a file of an export contains, in this order: the header, files, tables. */
export type ExportEvent =
  | { event: 'header'; header: Header }
  | { event: 'file'; path: string; sealedBy?: string | undefined }
  | { event: 'data'; bytes: Buffer }
  | { event: 'file end'; count: number }
  | { event: 'table'; name: string }
  | { event: 'row'; row: string }
  | { event: 'table end'; count: number; digest: string };

/** Bytes of a line. A row with a larger value can't be stored either. */
const MAX_LINE = 256 * 1024 * 1024;

/**
 * Reads a file that an export has written, and verifies its checksums. The last event of a section
 * follows the check of its checksum, and the iteration ends after the check of the whole file.
 * @param newest version of the schema that this release supports
 * @throws TransferError when it is damaged, incomplete or of a later release
 */
export async function* readExport(file: string, newest: number): AsyncGenerator<ExportEvent> {
  const damaged = (what: string): TransferError => new TransferError(`${file} is damaged or incomplete: ${what}.`);
  const total = createHash('sha256');
  let section = createHash('sha256');
  let open: 'file' | 'table' | undefined;
  let [hasHeader, hasTables, isComplete] = [false, false, false];
  let [sections, count] = [0, 0];
  for await (const line of linesOf(file, damaged)) {
    if (isComplete) throw damaged('there is something after its end');
    const text = `${line}\n`;
    if (!hasHeader) {
      hasHeader = true;
      yield { event: 'header', header: parseHeader(line, file, newest, damaged) };
    } else if (open === 'table' && line.startsWith(ROW_PREFIX)) {
      count += 1;
      section.update(text);
      yield { event: 'row', row: line.slice(ROW_PREFIX.length, -1) };
    } else if (open === 'file' && line.startsWith(DATA_PREFIX)) {
      const bytes = Buffer.from(line.slice(DATA_PREFIX.length, -2), 'base64');
      count += bytes.length;
      section.update(text);
      yield { event: 'data', bytes };
    } else {
      const control = parseControl(line, damaged);
      if ('section' in control) {
        if (open || (hasTables && control.section === 'file')) throw damaged('its sections are not in order');
        open = control.section;
        hasTables ||= open === 'table';
        sections += 1;
        count = 0;
        section = createHash('sha256').update(text);
        if (control.section === 'table') yield { event: 'table', name: control.name };
        else yield { event: 'file', path: control.path, sealedBy: control.sealed_by };
      } else if (control.end === 'export') {
        if (open || control.count !== sections || control.sha256 !== total.copy().digest('hex'))
          throw damaged('the checksum of the whole differs');
        isComplete = true;
      } else {
        if (open !== control.end || control.count !== count || control.sha256 !== section.digest('hex'))
          throw damaged(`the checksum of section ${sections} differs`);
        open = undefined;
        if (control.end === 'table') yield { event: 'table end', count, digest: control.digest };
        else yield { event: 'file end', count };
      }
    }
    total.update(text);
  }
  if (!isComplete) throw damaged('its end is missing');
}

function parseHeader(line: string, file: string, newest: number, damaged: (what: string) => Error): Header {
  const value = parseJson(line);
  const any = AnyHeader.safeParse(value);
  if (!any.success) throw new TransferError(`${file} is not an export of this program.`);
  const later = 'Import it with the release that wrote it, or a later one.';
  if (any.data.version > VERSION)
    throw new TransferError(
      `${file} has format ${any.data.version}, but this release only supports ${VERSION}. ${later}`,
    );
  const header = Header.safeParse(value);
  if (!header.success) throw damaged('its first line is not valid');
  if (header.data.schema_version > newest)
    throw new TransferError(
      `${file} has schema version ${header.data.schema_version}, but this release only supports ${newest}. ${later}`,
    );
  return header.data;
}

function parseControl(line: string, damaged: (what: string) => Error): Control {
  const control = Control.safeParse(parseJson(line));
  if (!control.success) throw damaged('a line is not valid');
  return control.data;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* linesOf(file: string, damaged: (what: string) => Error): AsyncGenerator<string> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  let parts: Buffer[] = [];
  let length = 0;
  const chunks: AsyncIterable<Buffer> = source.pipe(gunzip);
  try {
    for await (const chunk of chunks) {
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
        parts = [];
        length = 0;
        from = end + 1;
      }
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > MAX_LINE) throw damaged('a line is too long');
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw damaged('it does not decompress');
    if (isErrno(error, 'ENOENT', 'EISDIR', 'EACCES'))
      throw new TransferError(`${file} can't be read.`, { cause: error });
    throw error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (length > 0) throw damaged('it ends within a line');
}
