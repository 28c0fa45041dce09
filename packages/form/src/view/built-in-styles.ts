/**
 * Removes the form's built-in styles, which the host's style sheets replace. They are a style sheet
 * in the page (`decisions/006`). The rules that no theme may change (nothing scrolls inside the
 * frame, text for screen readers is hidden visually) are in a separate one, which stays.
 */
export function removeBuiltInStyles(): void {
  document.getElementById('theme')?.remove();
}
