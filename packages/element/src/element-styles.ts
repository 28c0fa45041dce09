import { css } from '@lit/reactive-element';

/**
 * Styles of everything but the form. They inherit the page's text color and font, and so fit light
 * and dark pages.
 */
export const elementStyles = css`
  :host {
    display: block;
    position: relative;
  }

  :host([hidden]) {
    display: none;
  }

  /* Lays out the loading form at its real width. Browsers delay frames that are display: none. */
  .loading-frame {
    position: absolute;
    inset: 0 0 auto;
    opacity: 0;
    pointer-events: none;
  }

  .notice {
    font: 14px/20px var(--connector-font-family, system-ui, sans-serif);
    color: var(--connector-color-text, inherit);
    container-type: inline-size;
  }

  .notice:focus {
    outline: none;
  }

  /* The outline of a form. */
  .skeleton {
    animation: appear 180ms 150ms both;
  }

  .skeleton div {
    padding: 20px 24px 0;
  }

  .skeleton i {
    display: block;
    inline-size: 110px;
    block-size: 12px;
    margin-block: 3px;
    border-radius: 6px;
    background: currentcolor;
    opacity: 0.11;
  }

  .skeleton .head {
    display: grid;
    grid-template-columns: 40px 1fr;
    column-gap: 12px;
    padding-block-start: 24px;
  }

  .skeleton .tile {
    grid-row: span 2;
    inline-size: 40px;
    block-size: 40px;
    margin: 0;
    border-radius: 8px;
  }

  .skeleton .line {
    inline-size: min(260px, 100%);
  }

  .skeleton .box {
    inline-size: auto;
    block-size: 40px;
    margin-block-start: 8px;
    border-radius: var(--connector-border-radius, 8px);
  }

  .skeleton .foot {
    display: flex;
    justify-content: end;
    gap: 8px;
    padding-block: 20px 24px;
  }

  .skeleton .foot .box {
    inline-size: 88px;
    margin: 0;
  }

  .failure {
    display: grid;
    justify-items: start;
    gap: 12px;
    padding: 24px;
    animation: appear 180ms both;
  }

  .failure p {
    margin: 0;
    max-inline-size: 60ch;
    overflow-wrap: anywhere;
  }

  .failure .title {
    font-weight: 600;
  }

  .failure .cause {
    margin-block-start: -8px;
    opacity: 0.75;
  }

  .details {
    box-sizing: border-box;
    inline-size: 100%;
    padding: 8px 12px;
    border-inline-start: 3px solid currentcolor;
    background: color-mix(in srgb, currentcolor 6%, transparent);
    font:
      12px/18px ui-monospace,
      monospace;
  }

  button {
    min-block-size: 40px;
    padding: 0 16px;
    border: 1px solid var(--connector-color-border, color-mix(in srgb, currentcolor 45%, transparent));
    border-radius: var(--connector-border-radius, 8px);
    background: none;
    color: inherit;
    font: inherit;
    font-weight: 500;
    cursor: pointer;
  }

  button:hover {
    background: color-mix(in srgb, currentcolor 8%, transparent);
  }

  button:focus-visible {
    outline: 3px solid var(--connector-color-primary, currentcolor);
    outline-offset: 2px;
  }

  @container (inline-size < 400px) {
    .skeleton div,
    .failure {
      padding-inline: 16px;
    }
  }

  @media (pointer: coarse) {
    button {
      min-block-size: 44px;
    }
  }

  @media (prefers-reduced-motion: reduce) {
    .skeleton,
    .failure {
      animation-duration: 0s;
    }
  }

  @media (forced-colors: active) {
    .skeleton i {
      border: 1px solid GrayText;
      background: none;
      opacity: 1;
    }
  }

  @keyframes appear {
    from {
      opacity: 0;
    }
  }
`;
