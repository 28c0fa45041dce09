/** A polite live region. The node must exist before its text changes, so it stands apart from what is rendered. */
export function createAnnouncer(host: HTMLElement): (text: string) => void {
  const region = document.createElement('div');
  region.className = 'cf-hidden';
  region.setAttribute('role', 'status');
  host.append(region);
  return (text) => {
    // The same sentence twice is a change only if the text differs.
    region.textContent = region.textContent === text ? `${text}\u00a0` : text;
  };
}
