/**
 * Enables the form's built-in styles, or disables them if the host's style sheets replace them.
 * They are a style sheet in the page (`decisions/006`). The rules that no theme may change (nothing
 * scrolls inside the frame, text for screen readers is hidden visually) are in a separate one,
 * which stays enabled.
 */
export function setLook(on: boolean): void {
  const look = document.getElementById('look');
  if (look instanceof HTMLStyleElement) look.disabled = !on;
}
