/**
 * Enables the form's built-in styles, or disables them if the host's style sheets replace them.
 * They are a style sheet in the page (`decisions/006`). The rules that no theme may change (nothing
 * scrolls inside the frame, text for screen readers is hidden visually) are in a separate one,
 * which stays enabled.
 */
export function setBuiltInStyles(on: boolean): void {
  const theme = document.getElementById('theme');
  if (theme instanceof HTMLStyleElement) theme.disabled = !on;
}
