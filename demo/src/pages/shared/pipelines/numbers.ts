const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** `12,345` */
export const count = (value: number): string => whole.format(value);

/** Formats a rate with one decimal place below 10 and none above: `0.4`, `12`. */
export const rate = (value: number): string => (value < 10 ? tenths : whole).format(value);

/** `1 record`, `2 records` */
export const counted = (value: number, one: string): string => `${count(value)} ${value === 1 ? one : `${one}s`}`;

/**
 * Window of the rate measurement in milliseconds: long enough to smooth bursts, short enough to be
 * current.
 */
const span = 6_000;

/** Creates a meter that derives a rate from successive readings of a counter. */
export function createRateMeter() {
  let samples: { time: number; total: number }[] = [];
  /** Returns records per second, or `undefined` after the first reading. */
  return (total: number, time: number): number | undefined => {
    const last = samples.at(-1);
    if (last && total < last.total) samples = [];
    samples.push({ time, total });
    // Keep the last sample before the window as the baseline of the rate.
    while (samples[1] && samples[1].time <= time - span) samples.shift();
    const [first] = samples;
    return first && time > first.time ? ((total - first.total) * 1_000) / (time - first.time) : undefined;
  };
}
