import type { ConnectorConfig, PollNumber } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { readDuration } from './duration.js';
import { PollError } from './poll-error.js';

type Settings = Pick<ConnectorConfig, 'settings'>;

/** Returns a number of a definition, perhaps from a setting. @throws PollError `invalid_config` */
export const numberOf = (number: PollNumber, config: Settings): number => bounded(number, config, readNumber);

/** Like `numberOf`, for a number of seconds: the setting may contain a length of time. */
export const secondsOf = (number: PollNumber, config: Settings): number =>
  bounded(number, config, ({ field, unit = 'seconds' }) => {
    const ms = readDuration(config, field, unit);
    return ms === undefined ? undefined : Math.ceil(ms / 1_000);
  });

/** Returns the number in a setting, `undefined` if it is empty. @throws PollError `invalid_config` */
export function readNumber({ field }: { field: string }, { settings }: Settings): number | undefined {
  const value: unknown = getAt({ settings }, field);
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (text === '') return undefined;
  if (!/^\d+(?:\.\d+)?$/.test(text))
    throw new PollError(failed('invalid_config', 'Enter a number.', { at: field }), 'permanent');
  return Number(text);
}

type NumberSetting = Exclude<PollNumber, number>;

function bounded(
  number: PollNumber,
  config: Settings,
  read: (setting: NumberSetting, config: Settings) => number | undefined,
): number {
  if (typeof number === 'number') return number;
  const { minimum = 1, maximum = Number.POSITIVE_INFINITY } = number;
  return Math.min(Math.max(read(number, config) ?? number.default, minimum), maximum);
}
