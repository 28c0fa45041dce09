import { Parser } from 'htmlparser2';
import type { Listed } from '../_shared/objects/store.js';

export interface BlobPage {
  objects: readonly Listed[];
  /** Absent: the listing is complete. */
  marker?: string;
}

/** Depth of the elements of a blob: `EnumerationResults/Blobs/Blob/Properties/Etag`. */
const DEPTH = 5;

/**
 * Parses a page of a listing; `undefined` if it is none.
 * https://learn.microsoft.com/rest/api/storageservices/list-blobs
 * @param grows returns whether a blob is appended to
 */
export function parseBlobs(xml: string, grows: (key: string, type: string) => boolean): BlobPage | undefined {
  const objects: Listed[] = [];
  const open: string[] = [];
  let blob = new Map<string, string>();
  let isEncoded = false;
  let marker = '';
  let isComplete = false;
  let text = '';
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        open.push(name);
        text = '';
        if (open.length > DEPTH) parser.pause();
        if (name === 'Blob') {
          blob = new Map();
          isEncoded = false;
        }
        // A name that XML can't represent is percent-encoded.
        if (name === 'Name' && attributes['Encoded'] === 'true') isEncoded = true;
      },
      ontext: (part) => (text += part),
      onclosetag(name, implied) {
        const path = open.join('/');
        open.pop();
        if (implied) return;
        if (path === 'EnumerationResults') isComplete = true;
        else if (path === 'EnumerationResults/NextMarker') marker = text;
        else if (path === 'EnumerationResults/Blobs/Blob') objects.push(...listed(blob, isEncoded, grows));
        else if (path.startsWith('EnumerationResults/Blobs/Blob/') && !blob.has(name)) blob.set(name, text);
        text = '';
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return isComplete ? { objects, ...(marker !== '' && { marker }) } : undefined;
}

function listed(
  blob: ReadonlyMap<string, string>,
  isEncoded: boolean,
  grows: (key: string, type: string) => boolean,
): Listed[] {
  const name = blob.get('Name') ?? '';
  const key = isEncoded ? decode(name) : name;
  const time = Date.parse(blob.get('Last-Modified') ?? '');
  if (key === '' || Number.isNaN(time)) return [];
  const etag = (blob.get('Etag') ?? '').replaceAll('"', '');
  const size = Number(blob.get('Content-Length') ?? 0);
  return [{ key, etag, time, size, ...(grows(key, blob.get('BlobType') ?? '') && { grows: true as const }) }];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
