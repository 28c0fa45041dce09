const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** `12,345` */
export const count = (value: number): string => whole.format(value);

/** `0.4`, `12`: a rate is as exact as it can be read. */
export const rate = (value: number): string => (value < 10 ? tenths : whole).format(value);

/** `1 record`, `2 records` */
export const counted = (value: number, one: string): string => `${count(value)} ${value === 1 ? one : `${one}s`}`;

/** Milliseconds over which a rate is measured: long enough to be calm, short enough to be now. */
const span = 6_000;

/** Measures how fast a count grows from when it was read. */
export function createRateMeter() {
  let samples: { time: number; total: number }[] = [];
  /** Records a second; `undefined` while one reading is all there is. */
  return (total: number, time: number): number | undefined => {
    const last = samples.at(-1);
    if (last && total < last.total) samples = [];
    samples.push({ time, total });
    // The one just before the span stays: it says what the span began with.
    while (samples[1] && samples[1].time <= time - span) samples.shift();
    const [first] = samples;
    return first && time > first.time ? ((total - first.total) * 1_000) / (time - first.time) : undefined;
  };
}
