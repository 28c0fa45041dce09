/** Returns the closest `<dialog>` around `element`, across shadow roots and slots. */
export function closestDialog(element: Element): HTMLDialogElement | undefined {
  let node: Node | null = element;
  while (node && !(node instanceof HTMLDialogElement)) {
    const slot: Node | null = node instanceof Element ? node.assignedSlot : null;
    node = slot ?? (node instanceof ShadowRoot ? node.host : node.parentNode);
  }
  return node ?? undefined;
}
