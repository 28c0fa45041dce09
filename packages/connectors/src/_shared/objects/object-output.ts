import { type Batch, type Batching, type Clock, type Output } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../output/send.js';
import { at, text } from '../read.js';
import { readEncoding } from './encodings/index.js';
import { folderOf, readLayout, type Layout } from './layout.js';
import { pathOf } from './object-path.js';
import type { ObjectStore } from './store.js';

/**
 * Writes records as objects of a storage. The object key contains the batch ID, which identifies
 * where the batch starts in the stream, so that a retry overwrites the earlier object.
 * @throws ConnectorError `invalid_config`, permanent
 */
export function createObjectOutput(
  store: Pick<ObjectStore, 'check' | 'put'>,
  settings: Record<string, unknown>,
  clock: Clock,
): Output {
  const encoding = readEncoding(settings);
  const layout = readLayout(settings);
  const folder = (text(settings, 'prefix') ?? '').replace(/^\/+|\/+$/g, '');
  // No URL can address keys under such a prefix.
  if (pathOf(`${folder}/`) === undefined) throw invalidConfig('The prefix is not valid in an object key.');
  return {
    batching: readBatching(settings, encoding.maxBytes),
    open: (signal) => store.check(signal),
    async write(batch, signal) {
      const { body, rejected } = await encoding.encode(batch);
      if (!body) return { rejected };
      const key = `${keyOf(batch, folder, layout, clock)}${encoding.extension}`;
      await store.put(key, { body, contentType: encoding.contentType }, signal);
      return rejected.length > 0 ? { rejected } : {};
    },
  };
}

/**
 * Returns the object key without the extension. Uses the time at which the batch was received, if
 * that is the same in every retry.
 */
function keyOf({ id, at: takenIn }: Batch, folder: string, layout: Layout | undefined, clock: Clock): string {
  const day = layout && folderOf(layout, takenIn ?? clock.now());
  const stamp = takenIn === undefined ? 'records' : new Date(takenIn).toISOString().replace(/[-:]|\.\d+/g, '');
  return [folder, day, `${stamp}-${id}`].filter(Boolean).join('/');
}

/** Parses `storage#/batch`, with its defaults. */
function readBatching(settings: Record<string, unknown>, maxBytes: number): Batching {
  const number = (name: string, fallback: number): number => {
    const value = at(settings, 'batch_config', name);
    return typeof value === 'number' && value > 0 ? value : fallback;
  };
  return {
    records: number('batch_record_count', 100_000),
    bytes: Math.min(number('batch_data_size', 10 * 1024 * 1024), maxBytes),
    waitMs: number('publish_rate', 45) * 1_000,
    replaces: true,
  };
}
