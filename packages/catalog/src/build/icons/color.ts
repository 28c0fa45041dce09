/** Colors of marks, as `#rrggbb`. */

const channels = (hex: string): [number, number, number] => [
  Number.parseInt(hex.slice(1, 3), 16),
  Number.parseInt(hex.slice(3, 5), 16),
  Number.parseInt(hex.slice(5, 7), 16),
];

function luminance(hex: string): number {
  const [red, green, blue] = channels(hex).map((channel) => {
    const share = channel / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** Returns the contrast ratio of two colors as defined by WCAG, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/**
 * Returns the long form of a color, or undefined for a value that is not a color: `none`,
 * `url(#x)`, `currentColor`.
 */
export function toHex(color: string): string | undefined {
  const value = color.toLowerCase();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(value);
  if (short)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join('')}`;
  if (value === 'black') return '#000000';
  if (value === 'white') return '#ffffff';
  return /^#[0-9a-f]{6}$/.test(value) ? value : undefined;
}

/**
 * Returns the color, shifted toward `toward` until its contrast with `background` reaches `minContrast`.
 * A color without a hue becomes `toward`: a black mark should be white on black, not gray.
 */
export function readable(hex: string, background: string, toward: string, minContrast: number): string {
  if (contrast(hex, background) >= minContrast) return hex;
  const from = channels(hex);
  if (Math.max(...from) - Math.min(...from) < 32) return toward;
  const to = channels(toward);
  for (let share = 0.05; share < 1; share += 0.05) {
    const mixed = from.map((channel, index) => Math.round(channel + ((to[index] ?? 0) - channel) * share));
    const color = `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
    if (contrast(color, background) >= minContrast) return color;
  }
  return toward;
}
