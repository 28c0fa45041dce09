import { BusError } from '../bus.js';

/**
 * Checks the name of a stream or consumer, which becomes the name of a file or a part of a subject.
 * @throws BusError `bad_name`
 */
export function checkName(name: string): void {
  if (/^[\w-][\w.-]{0,127}$/.test(name)) return;
  throw new BusError(
    'bad_name',
    `${JSON.stringify(name)} can't be a name: letters, digits, ".", "_" and "-", at most 128.`,
  );
}
