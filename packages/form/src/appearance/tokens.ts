/**
 * The custom properties of the form. The host gives six tokens; everything else is derived from them and set on the
 * document element (by `look.ts`, before the form's script has arrived), so the view's style sheets name these properties and no color of their own.
 *
 * Text on a surface keeps 4.5:1, a border that carries meaning 3:1, whatever the host chose.
 *
 * | Property              | Use                                                                                         |
 * | --------------------- | ------------------------------------------------------------------------------------------- |
 * | `--cf-background`     | page background: the host's token, else `transparent`                                       |
 * | `--cf-surface`        | opaque color taken to lie behind the form (same as the token where one is given)            |
 * | `--cf-raised`         | what lies on a track: the selected segment                                                  |
 * | `--cf-field`          | fill of a control                                                                           |
 * | `--cf-kept`           | quiet fill: a kept secret's row, the track of segments, a pressed or disabled control       |
 * | `--cf-hover`          | fill of a quiet button or row under the pointer                                             |
 * | `--cf-text`           | text; 4.5:1 on every fill above                                                             |
 * | `--cf-muted`          | help, subtitle, "Optional"; 4.5:1 on every fill above                                       |
 * | `--cf-placeholder`    | placeholder; 4.5:1 on `--cf-field`                                                          |
 * | `--cf-border`         | outline of a text control at rest, decorative lines; as the host gave it                    |
 * | `--cf-border-strong`  | outline that carries meaning (checkbox, radio, switch, hover, forced contrast); 3:1         |
 * | `--cf-hairline`       | line above the footer, between rows                                                         |
 * | `--cf-primary`        | fill of the primary button, checked controls; 3:1 on the surface                            |
 * | `--cf-primary-hover`  | the same under the pointer                                                                  |
 * | `--cf-on-primary`     | text on `--cf-primary` and `--cf-primary-hover`; 4.5:1                                      |
 * | `--cf-link`           | primary as text: Replace, Clear, Show; 4.5:1                                                |
 * | `--cf-focus`          | outline of the focused control; 3:1                                                         |
 * | `--cf-ring`           | the soft 3 px ring around it                                                                |
 * | `--cf-danger`         | error text, icon and outline; 4.5:1 on the surface, the field and `--cf-danger-fill`        |
 * | `--cf-danger-fill`    | fill of an error note                                                                       |
 * | `--cf-danger-border`  | outline of an error note (decorative)                                                       |
 * | `--cf-success`        | as danger                                                                                   |
 * | `--cf-success-fill`   |                                                                                             |
 * | `--cf-success-border` |                                                                                             |
 * | `--cf-font`           | font stack                                                                                  |
 * | `--cf-radius`         | corner radius of a control (default `8px`)                                                  |
 *
 * `color-scheme` on the document element says `light` or `dark` once a background decides it, else follows the frame's.
 */

/** Names of the properties this module sets, without `--cf-`. */
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

/** A value for every property. */
export type Tokens = Record<TokenName, string>;
