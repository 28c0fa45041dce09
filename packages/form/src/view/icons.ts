import { html, type TemplateResult } from 'lit/html.js';

// Drawn on 16 px, strokes in the color of the text beside them.
const icon = (name: string, path: string): TemplateResult =>
  html`<svg class="cf-icon cf-icon-${name}" viewBox="0 0 16 16" aria-hidden="true"><path d=${path} /></svg>`;

const circle = 'M8 1.75a6.25 6.25 0 1 1 0 12.5 6.25 6.25 0 0 1 0-12.5';

export const alertIcon = icon('alert', `${circle}M8 4.9v3.6M8 11v.05`);
export const checkIcon = icon('check', `${circle}m-2.6 6.55 1.8 1.8 3.4-3.8`);
export const chevronIcon = icon('chevron', 'm6 3.8 4.2 4.2L6 12.2');
export const lockIcon = icon('lock', 'M3 7h10v6.75H3zm2.25 0V5a2.75 2.75 0 0 1 5.5 0v2');
export const plusIcon = icon('plus', 'M8 3.5v9M3.5 8h9');
export const removeIcon = icon('remove', 'm4.25 4.25 7.5 7.5m0-7.5-7.5 7.5');
export const selectIcon = icon('select', 'm4 6.2 4 4 4-4');
export const ringIcon = icon('ring', 'M8 2a6 6 0 1 1-6 6');
