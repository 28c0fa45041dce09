/** The element with this id. A page without it is broken, so that is an error and not a case. */
export function byId(id: string): HTMLElement;
export function byId<T extends HTMLElement>(id: string, type: abstract new () => T): T;
export function byId(id: string, type: abstract new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} #${id}`);
}

/** A copy of a `<template>`, and its parts by `data-slot`. */
export function fromTemplate(id: string): { root: Element; slot: (name: string) => HTMLElement } {
  const root = byId(id, HTMLTemplateElement).content.firstElementChild?.cloneNode(true);
  if (!(root instanceof Element)) throw new Error(`The template #${id} is empty`);
  const slot = (name: string) => {
    const part = root.querySelector<HTMLElement>(`[data-slot='${name}']`);
    if (!part) throw new Error(`The template #${id} has no slot ${name}`);
    return part;
  };
  return { root, slot };
}

/** An element with text or children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
