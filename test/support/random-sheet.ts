import { pick } from './fuzz/values.js';
import { hostileSheets, scrollTimelineSheet } from './hostile-sheets.js';

const selectors = [
  '*',
  'body',
  'form',
  'form *',
  '.cf-field',
  '.cf-slot',
  'cf-secret',
  'cf-secret *',
  'cf-secret::part(control)',
  'input, textarea',
  ':focus-within',
  ':focus-visible',
  ':has(:focus)',
  ':not(:placeholder-shown)',
  ':valid',
  '::selection',
  '::before',
];
const declarations = [
  'height: auto',
  'min-height: 1px',
  'width: max-content',
  'max-width: 60px',
  'field-sizing: content',
  'contain: none',
  'overflow: auto',
  'overflow: visible',
  'overflow-anchor: none',
  'white-space: pre-wrap',
  'word-break: break-all',
  'writing-mode: vertical-rl',
  'direction: rtl',
  'font: 33px/2 serif',
  'letter-spacing: 1em',
  'text-indent: 30px',
  'text-transform: uppercase',
  '-webkit-text-security: none',
  'position: sticky; left: 0',
  'transform: translateX(3px)',
  'scroll-behavior: smooth',
  'scroll-padding: 40%',
  'scroll-margin: 90px',
  'scroll-snap-type: both mandatory',
  'scroll-snap-align: center',
  'resize: both',
  'transition: all 0.1s',
  'caret-color: red',
  'caret-shape: block',
  'display: inline-block',
  'columns: 3',
  'zoom: 1.5',
];

/**
 * Returns a style sheet that a hostile page could give the form: random rules, in about half of all
 * cases together with one of `hostileSheets`.
 */
export function randomSheet(random: () => number): string {
  const known = [...Object.values(hostileSheets), scrollTimelineSheet, '', '', '', '', ''];
  const rules = Array.from({ length: Math.floor(random() * 12) }, () => {
    const important = random() < 0.5 ? ' !important' : '';
    return `${pick(random, selectors)} { ${pick(random, declarations)}${important} }`;
  });
  return [pick(random, known), ...rules].join('\n');
}
