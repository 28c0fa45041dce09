import { ConnectorError } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import type { HttpResponse } from '../_shared/output/send.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import { texts } from '../_shared/read.js';

export const PAGERDUTY = 'PagerDuty';

/**
 * Converts a response to the outcome of an event.
 * https://developer.pagerduty.com/docs/send-alert-event#response-codes--retry-logic
 * @throws ConnectorError
 */
export function outcomeOf(response: HttpResponse, now: number): PartResult {
  if (response.status === 202) return {};
  if (response.status < 300) throw unexpected(PAGERDUTY);
  if (isAboutKey(response.text)) {
    const message = 'PagerDuty did not accept the integration key. Check that it is of an Events API v2 integration.';
    throw new ConnectorError('invalid_credentials', message, 'permanent');
  }
  if (response.status === 400 || response.status === 413)
    return { partRejection: `PagerDuty does not accept the event of this record (HTTP ${response.status}).` };
  throw statusFailure(response, PAGERDUTY, now);
}

/** Returns whether an error is about the integration key: it would refuse every event. */
export function isAboutKey(body: string): boolean {
  try {
    const parsed: unknown = JSON.parse(body);
    return texts(parsed, 'errors').some((error) => /routing.?key/i.test(error));
  } catch {
    return false;
  }
}
