import { svg } from './dom.js';
import { rate } from './numbers.js';

const width = 120;
const height = 28;
/** Ten minutes in intervals of ten seconds. */
const slots = 60;

/**
 * Draws the rate of the last ten minutes as a line. Its accessible name states the current and the
 * highest rate.
 */
export function sparkline(): { root: SVGSVGElement; update: (history: readonly number[]) => void } {
  const root = svg('svg', {
    class: 'sparkline',
    role: 'img',
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: 'none',
  });
  const area = svg('path', { class: 'sparkline-area' });
  const line = svg('path', { class: 'sparkline-line', 'vector-effect': 'non-scaling-stroke' });
  root.append(area, line);
  const update = (history: readonly number[]) => {
    const points = Array.from({ length: slots }, (_, slot) => history[history.length - slots + slot] ?? 0);
    const top = Math.max(...points, 0);
    const at = (value: number, slot: number) =>
      `${((slot * width) / (slots - 1)).toFixed(1)} ${(height - 1.5 - (top > 0 ? (value / top) * (height - 4) : 0)).toFixed(1)}`;
    const path = `M${points.map(at).join('L')}`;
    line.setAttribute('d', path);
    area.setAttribute('d', `${path}V${height}H0Z`);
    const said =
      top === 0
        ? 'No records in the last ten minutes'
        : `Records a second in the last ten minutes: ${rate(points.at(-1) ?? 0)} at last, ${rate(top)} at most`;
    root.setAttribute('aria-label', said);
  };
  update([]);
  return { root, update };
}
