import { createHash } from 'node:crypto';
import { toConnectorError } from '../_shared/api/api-error.js';
import { unexpected } from '../_shared/connection-test/failures.js';
import { pathOf } from '../_shared/objects/object-path.js';
import { checkEtag } from '../_shared/objects/read-object.js';
import {
  LIST_TIMEOUT_MS,
  MAX_LISTING,
  ObjectError,
  READ_TIMEOUT_MS,
  WRITE_TIMEOUT_MS,
  type Listed,
  type ListedPage,
  type Listing,
  type ObjectStore,
} from '../_shared/objects/store.js';
import { invalidConfig } from '../_shared/output/send.js';
import { codeOf, type BlobClient } from './blob-client.js';
import { parseBlobs, type BlobPage } from './list-blobs.js';

export const READ_ROLE = 'It needs the role Storage Blob Data Reader on the storage account.';
export const WRITE_ROLE = 'It needs the role Storage Blob Data Contributor on the storage account.';

/**
 * Returns the blobs of a container.
 * @param grows returns whether a blob is read as it is appended to
 */
export function createBlobStore(
  client: BlobClient,
  now: () => number,
  grows: (key: string, type: string) => boolean = () => false,
): ObjectStore {
  return {
    subject: client.subject,
    startsAfter: false,
    list: (listing) => listBlobs(client, listing, now, grows),
    open: (object, offset, signal) => openBlob(client, object, offset, signal),
    check: async (signal) => {
      await listPage(client, { maxresults: '1' }, signal, WRITE_ROLE);
    },
    async put(key, { body, contentType }, signal) {
      const path = pathOf(key);
      if (path === undefined) throw invalidConfig('The prefix is not valid in a blob name.');
      const headers = {
        'x-ms-blob-type': 'BlockBlob',
        'content-type': contentType,
        'content-md5': createHash('md5').update(body).digest('base64'),
      };
      const response = await client.send(
        path,
        { method: 'PUT', headers, body },
        { signal, timeoutMs: WRITE_TIMEOUT_MS },
      );
      if (response.status !== 201) throw client.problem(response, WRITE_ROLE);
      // Every response to Put Blob has the ETag of the blob.
      if (!response.headers.has('etag')) throw toConnectorError(unexpected(client.subject));
    },
  };
}

/** Requests one page of a listing. @throws ConnectorError */
export async function listPage(
  client: BlobClient,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  role: string,
  grows: (key: string, type: string) => boolean = () => false,
): Promise<BlobPage & { date: string | null }> {
  const parameters = Object.entries({ restype: 'container', comp: 'list', ...query });
  const path = `?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
  const response = await client.send(path, {}, { signal, maxBytes: MAX_LISTING, timeoutMs: LIST_TIMEOUT_MS });
  if (response.status !== 200) throw client.problem(response, role);
  const page = parseBlobs(await response.text(), grows);
  if (!page) throw toConnectorError(unexpected(client.subject));
  return { ...page, date: response.headers.get('date') };
}

async function* listBlobs(
  client: BlobClient,
  { prefix, signal }: Listing,
  now: () => number,
  grows: (key: string, type: string) => boolean,
): AsyncGenerator<ListedPage, void, void> {
  let marker: string | undefined;
  do {
    const query = { ...(prefix !== '' && { prefix }), ...(marker !== undefined && { marker }) };
    const page = await listPage(client, query, signal, READ_ROLE, grows);
    const at = Date.parse(page.date ?? '');
    yield { objects: page.objects, at: Number.isNaN(at) ? now() : at };
    if (page.marker !== undefined && page.marker === marker) throw toConnectorError(unexpected(client.subject));
    ({ marker } = page);
  } while (marker !== undefined);
}

/** https://learn.microsoft.com/rest/api/storageservices/get-blob */
async function openBlob(
  client: BlobClient,
  { key, etag, grows, size }: Listed,
  offset: number,
  signal: AbortSignal,
): Promise<Response> {
  const path = pathOf(key);
  if (path === undefined) throw new ObjectError('unaddressable');
  const headers = grows
    ? { 'x-ms-range': `bytes=${offset}-${size - 1}` }
    : { ...(etag !== '' && { 'if-match': `"${etag}"` }), ...(offset > 0 && { 'x-ms-range': `bytes=${offset}-` }) };
  const response = await client.send(path, { headers }, { signal, stream: true, timeoutMs: READ_TIMEOUT_MS });
  if (response.status === 200 || response.status === 206) {
    if (!grows) await checkEtag(response, etag);
    return response;
  }
  await response.body?.cancel();
  const code = codeOf(response);
  if (response.status === 412) throw new ObjectError('replaced');
  // It was replaced by a shorter one since it was listed.
  if (response.status === 416) throw new ObjectError('replaced');
  if (code === 'BlobNotFound') throw new ObjectError('gone');
  if (code === 'BlobArchived' || code === 'BlobBeingRehydrated') throw new ObjectError('archived');
  const problem = client.problem(response, READ_ROLE);
  if (code === 'AuthorizationPermissionMismatch') throw new ObjectError('denied', problem);
  throw problem;
}
