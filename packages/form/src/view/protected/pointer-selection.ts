/** The text that a pointer selects. */
export interface SelectableText {
  /** Moves the caret to the pointer. With `extend`, keeps the start of the selection. */
  selectTo: (event: MouseEvent, extend: boolean) => void;
  selectAll: () => void;
}

/**
 * Makes the selections of mouse and touch by script. The browser would place the caret where there
 * is no text, and scroll while the pointer is dragged out of the control.
 */
export function listenToPointer(control: HTMLElement, { selectTo, selectAll }: SelectableText): void {
  let isMouse = false;
  control.addEventListener('pointerdown', (event) => {
    isMouse = event.pointerType === 'mouse';
    if (isMouse && event.button === 0) control.setPointerCapture(event.pointerId);
  });
  control.addEventListener('mousedown', (event) => {
    if (!isMouse || event.button !== 0) return;
    event.preventDefault();
    control.focus({ preventScroll: true });
    if (event.detail === 1) selectTo(event, event.shiftKey);
    else selectAll();
  });
  control.addEventListener('pointermove', (event) => {
    if (isMouse && control.hasPointerCapture(event.pointerId)) selectTo(event, true);
  });
  // A tap focuses the control natively, and a long press opens the menu with "Paste".
  control.addEventListener('click', (event) => {
    if (!isMouse && event.detail === 1) selectTo(event, false);
  });
}
