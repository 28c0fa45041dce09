import type { PollTimeForm } from '@connector-frame/catalog/types';

/**
 * Formats a time for a vendor. Formats coarser than a millisecond round down, or up if `up` is set.
 */
export function writeTime(ms: number, form: PollTimeForm, up = false): string {
  const seconds = (up ? Math.ceil : Math.floor)(ms / 1_000);
  switch (form) {
    case 'rfc3339':
      return new Date(ms).toISOString();
    case 'rfc3339_seconds':
      return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');
    case 'seconds':
      return String(seconds);
    case 'milliseconds':
      return String(Math.floor(ms));
    default:
      return new Date(ms).toISOString().slice(0, 10);
  }
}

/**
 * Parses a vendor's time to milliseconds since the epoch.
 *
 * @returns `undefined` if it is not a time between 1970 and 2200
 */
export function readTime(value: unknown, form: 'rfc3339' | 'seconds' | 'milliseconds' = 'rfc3339'): number | undefined {
  const ms =
    form === 'rfc3339'
      ? typeof value === 'string'
        ? Date.parse(value)
        : Number.NaN
      : typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value))
        ? Number(value) * (form === 'seconds' ? 1_000 : 1)
        : Number.NaN;
  return ms >= 0 && ms <= Date.UTC(2200, 0) ? ms : undefined;
}
