/**
 * Creates a polite live region and returns a function that announces text. The node must exist
 * before its text changes, so it is separate from the rendered templates.
 */
export function createAnnouncer(host: HTMLElement): (text: string) => void {
  const region = document.createElement('div');
  region.className = 'cf-hidden';
  region.setAttribute('role', 'status');
  host.append(region);
  return (text) => {
    // Screen readers announce a repeated message only if the text differs.
    region.textContent = region.textContent === text ? `${text}\u00a0` : text;
  };
}
