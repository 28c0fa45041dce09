import type { PageBuilder } from './page-builder.js';
import type { Listed } from './store.js';

const skipReasons: Readonly<Record<string, string>> = {
  archived: 'it is archived and must be restored first',
  denied: 'the access key may not read it',
  not_parquet: 'it is not a valid Parquet file',
  too_large: 'it is larger than 512 MiB',
  unaddressable: 'no URL can address its key',
  not_gzip: 'it is not compressed with gzip',
  corrupt_gzip: 'its gzip data is corrupt',
  invalid_json: 'it is not valid JSON',
  incomplete_json: 'its JSON is incomplete',
  unclosed_quote: 'a quote in it is never closed',
};

/** Skips an object. Its key is third-party text, so it goes to the dead letters, not to the log. */
export function skipObject({ key, size, time }: Listed, reason: string, page: PageBuilder): void {
  page.reject({
    reason: `object_skipped: ${reason}`,
    found: { key, size, last_modified: new Date(time).toISOString() },
  });
  page.note(
    'object_skipped',
    `An object was skipped: ${skipReasons[reason] ?? reason}. Its key is in the dead letters.`,
  );
}
