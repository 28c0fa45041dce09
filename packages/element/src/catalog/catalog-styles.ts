import { css } from '@lit/reactive-element';

/**
 * Styles of the catalog. They inherit the page's text color and font, and so fit light and dark
 * pages.
 */
export const catalogStyles = css`
  :host {
    display: block;
    font: 14px/20px var(--connector-font-family, system-ui, sans-serif);
    color: var(--connector-color-text, inherit);
    container-type: inline-size;
    --line: var(--connector-color-border, color-mix(in srgb, currentcolor 22%, transparent));
    --round: var(--connector-border-radius, 8px);
    --accent: var(--connector-color-primary, currentcolor);
  }

  :host([hidden]) {
    display: none;
  }

  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }

  .search {
    flex: 1 1 220px;
    position: relative;
  }

  .search svg {
    position: absolute;
    inset-block-start: 10px;
    inset-inline-start: 12px;
    inline-size: 20px;
    block-size: 20px;
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.5;
    stroke-linecap: round;
    opacity: 0.6;
    pointer-events: none;
  }

  input,
  select {
    box-sizing: border-box;
    inline-size: 100%;
    block-size: 40px;
    padding: 0 12px;
    border: 1px solid var(--line);
    border-radius: var(--round);
    background: var(--connector-color-background, transparent);
    color: inherit;
    font: inherit;
  }

  input {
    padding-inline-start: 40px;
    appearance: none;
  }

  select {
    inline-size: auto;
    max-inline-size: 100%;
  }

  option {
    background: Canvas;
    color: CanvasText;
  }

  .count {
    margin: 12px 0 8px;
    opacity: 0.7;
  }

  ul {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr));
    gap: 8px;
    margin: 0;
    padding: 0;
    list-style: none;
  }

  /* Items outside the viewport are not laid out or painted. */
  li {
    content-visibility: auto;
    contain-intrinsic-size: auto 66px;
  }

  .item {
    display: flex;
    box-sizing: border-box;
    inline-size: 100%;
    block-size: 100%;
    min-block-size: 66px;
    gap: 12px;
    align-items: center;
    padding: 10px 12px;
    border: 1px solid var(--line);
    border-radius: var(--round);
    background: var(--connector-color-background, transparent);
    color: inherit;
    font: inherit;
    text-align: start;
    cursor: pointer;
  }

  .item:hover {
    border-color: color-mix(in srgb, currentcolor 45%, transparent);
    background: color-mix(in srgb, currentcolor 5%, var(--connector-color-background, transparent));
  }

  .item[aria-current] {
    border-color: var(--accent);
    box-shadow: inset 0 0 0 1px var(--accent);
  }

  :is(input, select, .item, .retry):focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: -1px;
  }

  .icon {
    flex: none;
    display: grid;
    place-items: center;
    inline-size: 36px;
    block-size: 36px;
    border: 1px solid color-mix(in srgb, currentcolor 14%, transparent);
    border-radius: 8px;
    /* Icons adapt to the color scheme of their element. */
    background: light-dark(#fff, #1f242c);
    font-weight: 600;
  }

  .letters {
    border-color: transparent;
    background: light-dark(oklch(0.92 0.055 var(--hue)), oklch(0.34 0.06 var(--hue)));
    color: light-dark(oklch(0.36 0.1 var(--hue)), oklch(0.92 0.05 var(--hue)));
    font-size: 13px;
  }

  .icon img {
    inline-size: 22px;
    block-size: 22px;
  }

  .words {
    min-inline-size: 0;
  }

  .name {
    display: block;
    font-weight: 600;
    overflow-wrap: anywhere;
  }

  .about {
    display: block;
    opacity: 0.7;
    font-size: 13px;
    line-height: 18px;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .saved-only {
    display: block;
    font-size: 12px;
    line-height: 18px;
    overflow-wrap: anywhere;
  }

  .note {
    padding: 32px 16px;
    border: 1px dashed var(--line);
    border-radius: var(--round);
    text-align: center;
  }

  .note p {
    margin: 0 0 12px;
    overflow-wrap: anywhere;
  }

  .note .details {
    padding: 8px 12px;
    background: color-mix(in srgb, currentcolor 6%, transparent);
    font:
      12px/18px ui-monospace,
      monospace;
    text-align: start;
  }

  .retry {
    min-block-size: 40px;
    padding: 0 16px;
    border: 1px solid var(--line);
    border-radius: var(--round);
    background: none;
    color: inherit;
    font: inherit;
    font-weight: 500;
    cursor: pointer;
  }

  .bone {
    block-size: 66px;
    border-radius: var(--round);
    background: currentcolor;
    opacity: 0.07;
  }

  [hidden] {
    display: none;
  }

  @container (inline-size < 420px) {
    select {
      inline-size: 100%;
    }
  }

  @media (pointer: coarse) {
    input,
    select {
      block-size: 44px;
      /* Phones zoom in on focused fields with a smaller font. */
      font-size: 16px;
    }

    .search svg {
      inset-block-start: 12px;
    }
  }

  @media (forced-colors: active) {
    .item[aria-current] {
      outline: 2px solid Highlight;
    }

    .bone {
      border: 1px solid GrayText;
      background: none;
      opacity: 1;
    }
  }
`;
