/**
 * Custom properties of the form. The host sets six tokens; all others are derived from them.
 * `theme.ts` sets them on the document element before the form's script has loaded. The view's style
 * sheets use these properties instead of literal colors.
 *
 * Text keeps a contrast of 4.5:1 on every surface, and a border that carries meaning 3:1, whatever
 * colors the host sets.
 *
 * - `--cf-background`: page background; the host's token, else `transparent`
 * - `--cf-surface`: opaque color assumed behind the form; the host's background token if it is set
 * - `--cf-raised`: the selected segment on its track
 * - `--cf-field`: fill of a control
 * - `--cf-kept`: subdued fill: the row of a stored secret, the track of segments, a pressed or
 *   disabled control
 * - `--cf-hover`: fill of a secondary button or row on hover
 * - `--cf-text`: text; 4.5:1 on every fill above
 * - `--cf-muted`: help, subtitle, "Optional"; 4.5:1 on every fill above
 * - `--cf-placeholder`: placeholder; 4.5:1 on `--cf-field`
 * - `--cf-border`: outline of an unfocused text control, decorative lines; as the host set it
 * - `--cf-border-strong`: outline that carries meaning (checkbox, radio, switch, hover, forced
 *   contrast); 3:1
 * - `--cf-hairline`: line above the footer and between rows
 * - `--cf-primary`: fill of the primary button, checked controls; 3:1 on the surface
 * - `--cf-primary-hover`: the same on hover
 * - `--cf-on-primary`: text on `--cf-primary` and `--cf-primary-hover`; 4.5:1
 * - `--cf-link`: primary as text: Replace, Clear, Show; 4.5:1
 * - `--cf-focus`: outline of the focused control; 3:1
 * - `--cf-ring`: the soft 3 px ring around it
 * - `--cf-danger`: error text, icon and outline; 4.5:1 on the surface, the field and
 *   `--cf-danger-fill`
 * - `--cf-danger-fill`: fill of an error note
 * - `--cf-danger-border`: outline of an error note (decorative)
 * - `--cf-success`, `--cf-success-fill`, `--cf-success-border`: like the danger colors, for success
 * - `--cf-font`: font stack
 * - `--cf-radius`: corner radius of a control (default `8px`)
 *
 * `color-scheme` on the document element is set to `light` or `dark` if a host token decides it;
 * otherwise it follows the frame's.
 */

/** Names of the custom properties, without the `--cf-` prefix. */
export const TOKEN_NAMES = [
  'background',
  'surface',
  'raised',
  'field',
  'kept',
  'hover',
  'text',
  'muted',
  'placeholder',
  'border',
  'border-strong',
  'hairline',
  'primary',
  'primary-hover',
  'on-primary',
  'link',
  'focus',
  'ring',
  'danger',
  'danger-fill',
  'danger-border',
  'success',
  'success-fill',
  'success-border',
  'font',
  'radius',
] as const;

export type TokenName = (typeof TOKEN_NAMES)[number];

/** A value for each custom property. */
export type Tokens = Record<TokenName, string>;
