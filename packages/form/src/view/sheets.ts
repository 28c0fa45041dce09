/**
 * Takes the form's own look off where the host's style sheets stand in for it, or puts it back. The look is a sheet in the page
 * (`decisions/006`); what no look may change (nothing scrolls inside the frame, text for screen readers stays unseen) is another,
 * which stays.
 */
export function setLook(on: boolean): void {
  const look = document.getElementById('look');
  if (look instanceof HTMLStyleElement) look.disabled = !on;
}
