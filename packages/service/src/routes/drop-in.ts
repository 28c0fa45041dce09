import { z } from '@hono/zod-openapi';
import { DROP_IN_LICENSES, DROP_IN_SCRIPTS, type DropIn } from '../embed/drop-in.js';
import type { Asset } from '../embed/form-assets.js';
import { sendAsset } from '../embed/send-asset.js';
import { ApiError } from '../api-error.js';
import { isCurrent, textTag } from '../http/etag.js';
import { publicRoute, type Route } from '../http/route.js';

export interface DropInOptions {
  dropIn: DropIn;
  /** Public base URL of the service, without a trailing slash. */
  publicUrl: string;
}

/**
 * Any page can load these files, including one that is cross-origin isolated or checks their hash
 * (`crossorigin`).
 */
const anyone = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
/** The files of a full version never change. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
/**
 * Pages that use the major version get a new release within minutes. No `stale-while-revalidate`: a
 * page opened once a day would run yesterday's script, without the latest security fixes and
 * against today's form.
 */
const FOR_MINUTES = 'public, max-age=300';

const FILE_HEADERS = {
  'Cache-Control': 'A year for a full version, five minutes for a major version.',
  'Content-Encoding': '`br` or `gzip` if `Accept-Encoding` allows it.',
};

const Version = z.string().openapi({
  description: 'Full version, whose files never change, or major version, for its newest release.',
  example: '0.1.0',
});

/** Routes for the drop-in scripts, their licenses and their integrity hashes. */
export function dropInRoutes({ dropIn, publicUrl }: DropInOptions): Route[] {
  const { version } = dropIn;
  const [major = version] = version.split('.');
  const tag = 'Drop-in';

  /**
   * Returns the Cache-Control value for a version.
   * @throws ApiError 404 if the service does not have this version
   */
  function cachingOf(requested: string): string {
    if (requested === version) return IMMUTABLE;
    if (requested === major) return FOR_MINUTES;
    const versions = [version, major];
    throw new ApiError(404, 'not_found', `Unknown version. This service has ${versions.join(' and ')}.`, {
      details: { versions },
      headers: anyone,
    });
  }

  function file(name: string, operation: string, summary: string, example: string, asset: Asset): Route {
    // Weak, because the file is served in several encodings.
    const etag = textTag(asset.identity);
    const [contentType] = asset.contentType.split(';');
    return publicRoute(
      {
        method: 'get',
        path: `/v/{version}/${name}`,
        tag,
        operation,
        summary,
        description:
          'Any page can load it. The files of a full version never change; those of a major version are those of its newest release.',
        params: z.object({ version: Version }),
        etag: true,
        errorStatuses: {
          404: 'This service does not have this version; `additional_details.versions` lists those that it has.',
        },
        response: {
          status: 200,
          description: 'The file.',
          schema: z.string(),
          example,
          ...(contentType === undefined ? {} : { contentType }),
          headers: FILE_HEADERS,
        },
      },
      ({ c, params }) => {
        const headers = {
          ...anyone,
          'Cache-Control': cachingOf(params.version),
          ETag: `W/${etag}`,
          'X-Content-Type-Options': 'nosniff',
          Vary: 'Accept-Encoding',
        };
        return isCurrent(c.req.header('if-none-match'), etag)
          ? new Response(null, { status: 304, headers })
          : sendAsset(c, asset, headers);
      },
    );
  }

  return [
    file(
      'connector-frame.js',
      'readDropIn',
      'The script that defines `<connector-frame>`, for host pages',
      "customElements.define('connector-frame', ...);",
      dropIn.scripts['connector-frame.js'].script,
    ),
    file(
      'connector-catalog.js',
      'readDropInCatalog',
      'The script that defines `<connector-catalog>`, for host pages',
      "customElements.define('connector-catalog', ...);",
      dropIn.scripts['connector-catalog.js'].script,
    ),
    file(
      DROP_IN_LICENSES,
      'readDropInLicences',
      'Licenses of the libraries that the scripts contain',
      'lit: BSD-3-Clause ...',
      dropIn.licences,
    ),

    publicRoute(
      {
        method: 'get',
        path: '/v/integrity.json',
        tag,
        operation: 'readDropInIntegrity',
        summary: 'Hashes of the scripts, for the `integrity` attribute',
        description: 'A page that pins a full version can check the scripts with these hashes.',
        response: {
          status: 200,
          description: 'By full version.',
          headers: { 'Cache-Control': 'Five minutes.' },
          schema: z
            .record(
              z.string(),
              z.object({ 'connector-frame.js': z.string(), 'connector-catalog.js': z.string(), url: z.string() }),
            )
            .openapi('DropInIntegrity', {
              example: {
                '0.1.0': {
                  'connector-frame.js': 'sha384-...',
                  'connector-catalog.js': 'sha384-...',
                  url: 'https://connect.example/v/0.1.0/connector-frame.js',
                },
              },
            }),
        },
      },
      () => ({
        status: 200,
        body: {
          [version]: {
            ...Object.fromEntries(DROP_IN_SCRIPTS.map((name) => [name, dropIn.scripts[name].integrity])),
            url: `${publicUrl}/v/${version}/connector-frame.js`,
          },
        },
        headers: { ...anyone, 'Cache-Control': FOR_MINUTES },
      }),
    ),
  ];
}
