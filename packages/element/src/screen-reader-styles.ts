import { css } from '@lit/reactive-element';

/** Hides text of the class `sr` visually, but not from screen readers. */
export const screenReaderStyles = css`
  .sr {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;
