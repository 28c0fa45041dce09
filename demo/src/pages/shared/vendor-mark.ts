/** Shows a vendor's mark in `tile`, or the first letter of `name` where there is none. */
export function showMark(tile: HTMLElement, icon: string | null | undefined, name: string): void {
  const monogram = () => tile.replaceChildren(name.slice(0, 1).toUpperCase());
  if (!icon) {
    monogram();
    return;
  }
  const image = new Image(24, 24);
  image.alt = ''; // The name stands beside it.
  image.loading = 'lazy';
  image.addEventListener('error', monogram, { once: true });
  image.src = icon;
  tile.replaceChildren(image);
}
