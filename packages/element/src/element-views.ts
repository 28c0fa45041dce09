import { html, type TemplateResult } from 'lit';

/** Until the form is shown: its shape, or what the page gave for it. */
export const loadingView = (): TemplateResult => html`
  <div part="loading" class="told" role="status">
    <slot name="loading">
      <span class="sr">Loading the form</span>
      <div class="skeleton" aria-hidden="true">
        <div class="head"><i class="tile"></i><i></i><i class="line"></i></div>
        <div><i></i><i class="box"></i></div>
        <div><i></i><i class="box"></i></div>
        <div><i></i><i class="box"></i></div>
        <div class="foot"><i class="box"></i><i class="box"></i></div>
      </div>
    </slot>
  </div>
`;

/** Where no form can be: why, and a way to try again. */
export const errorView = (why: string, retry: () => void): TemplateResult => html`
  <div part="error" class="told" role="alert">
    <slot name="error">
      <div class="failure">
        <p class="title">The form could not be loaded.</p>
        <p class="why">${why}</p>
        <button part="retry" type="button" @click=${retry}>Try again</button>
      </div>
    </slot>
  </div>
`;
