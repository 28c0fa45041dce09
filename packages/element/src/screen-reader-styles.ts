import { css } from '@lit/reactive-element';

/** Texts of the class `sr` are heard and not seen. */
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
