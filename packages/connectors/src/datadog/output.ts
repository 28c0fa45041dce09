import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { ConnectorError, type CreateOutput, type Output } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { splitBySize, writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { text, texts } from '../_shared/read.js';
import { siteOf } from './config.js';

const PRODUCT = 'Datadog';

/**
 * Limits of one request before compression, and of one log in it.
 * https://docs.datadoghq.com/api/latest/logs/#send-logs
 */
const MAX_LOGS = 1_000;
const MAX_BYTES = 5_000_000;
const MAX_LOG_BYTES = 1_000_000;
/** Bytes of records per request. A record grows when its quotes are escaped in the message. */
const BATCH_BYTES = 3_000_000;

const compress = promisify(gzip);

export interface DatadogOutputOptions {
  /** Returns the origin of a site's log intake. */
  intakeOf?: (site: string) => string;
  /** Returns the origin of a site's API. */
  apiOf?: (site: string) => string;
}

/**
 * Sends records as logs to the intake of a Datadog site. A batch is written once the intake has
 * accepted it. The log's message is the record's JSON, which Datadog parses. Datadog does not
 * deduplicate.
 */
export function createDatadogOutput({
  intakeOf = (site) => `https://http-intake.logs.${site}`,
  apiOf = (site) => `https://api.${site}`,
}: DatadogOutputOptions = {}): CreateOutput {
  return ({ settings, secrets }, { egress, clock }): Output => {
    const apiKey = text(secrets, 'api_key');
    if (!apiKey) throw invalidConfig('There is no API key.');
    const site = siteOf(text(settings, 'domain_url') ?? '');
    if (!site) throw invalidConfig("This is not a Datadog address. Use your site's intake address.");
    const before = beginningOf(settings);
    const key = { 'dd-api-key': apiKey };
    const headers = { ...key, 'content-type': 'application/json', 'content-encoding': 'gzip' };

    return {
      batching: { records: MAX_LOGS, bytes: BATCH_BYTES, waitMs: 1_000, waitFrom: 'write' },
      ordering: 'none',
      /**
       * Validates the API key.
       * https://docs.datadoghq.com/api/latest/authentication/#validate-api-key
       */
      async open(signal) {
        const url = `${apiOf(site)}/api/v1/validate`;
        const response = await send(egress, { url, method: 'GET', headers: key, product: PRODUCT }, signal);
        if (response.status !== 200) throw failureOf(response, clock.now());
      },
      write: (batch, signal) => {
        const logs = batch.lines.map((line) => `${before}${JSON.stringify(line)}}`);
        const sizes = logs.map((log) => Buffer.byteLength(log) + 1);
        return writeParts(splitBySize(sizes, MAX_LOGS, MAX_BYTES), async (indexes): Promise<PartResult> => {
          // Datadog truncates a log above this size without reporting it.
          const [fit, tooLarge] = [true, false].map((fits) =>
            indexes.filter((index) => (sizes[index] ?? 0) <= MAX_LOG_BYTES === fits),
          );
          const rejected = (tooLarge ?? []).map((index) => ({
            index,
            reason: 'The record exceeds the maximum size of a log in Datadog.',
          }));
          if (!fit || fit.length === 0) return { rejected };
          const body = await compress(`[${fit.map((index) => logs[index]).join()}]`);
          const response = await send(
            egress,
            { url: `${intakeOf(site)}/api/v2/logs`, headers, body, product: PRODUCT },
            signal,
          );
          if (response.status === 202) return { rejected };
          if (rejected.length === 0 && (response.status === 400 || response.status === 413))
            return { partRejection: `Datadog does not accept this record (HTTP ${response.status}).` };
          throw failureOf(response, clock.now());
        });
      },
    };
  };
}

/** Returns the JSON of a log up to the value of `message`. */
function beginningOf(settings: ConnectorConfig['settings']): string {
  const tags = texts(settings, 'ddtags').join();
  const about = {
    ddsource: text(settings, 'ddsource'),
    ddtags: tags === '' ? undefined : tags,
    hostname: text(settings, 'hostname'),
    service: text(settings, 'service'),
  };
  const fields = JSON.stringify(about).slice(1, -1);
  return `{${fields === '' ? '' : `${fields},`}"message":`;
}

function failureOf(response: HttpResponse, now: number): ConnectorError {
  if (response.status === 401 || response.status === 403) {
    return new ConnectorError(
      'invalid_credentials',
      'Datadog did not accept the API key. Check that it belongs to this Datadog site.',
      'permanent',
    );
  }
  return response.status < 300 ? unexpected(PRODUCT) : statusFailure(response, PRODUCT, now);
}
