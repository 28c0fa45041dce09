import type { Route } from '../serve.js';
import { hostPage } from '../world.js';

/** A host page that makes the frame's layout observable. */
interface HostLayout {
  css: string;
  /** Wraps `<main id="form"></main>`. */
  wrap?: (form: string) => string;
}

const box = (form: string): string => `<div id="box">${form}</div>`;
const clip = '#box { width: 60px; height: 300px; overflow: hidden }';
const iframe = '#form iframe';
/** A box that is larger than the frame and still scrollable. */
const roomy = (form: string): string => `<div id="box"><div id="room">${form}</div></div>`;
const strip = `#box { width: 700px; height: 800px; overflow: auto; scroll-padding: 395px 340px }
  #room { width: 2000px; height: 2000px } ${iframe} { width: 600px !important; scroll-margin: 0 }`;

/**
 * Layouts that reveal to a host page where something is inside the frame. To keep a caret in view,
 * browsers scroll every box around it, across the frame boundary: a box narrower than the frame
 * turns that into a number the page can read.
 */
const layouts = {
  plain: { css: '' },
  /** A wide frame in a narrow box. */
  clip: { wrap: box, css: `${clip} ${iframe} { width: 4000px !important }` },
  /** Glyphs are wide enough to be distinguished by rounded positions. */
  zoom: { wrap: box, css: `${clip} ${iframe} { width: 500px !important; zoom: 8 }` },
  scale: {
    wrap: box,
    css: `${clip} ${iframe} { width: 1000px !important; transform: scale(4); transform-origin: 0 0 }`,
  },
  rotate: {
    wrap: box,
    css: `${clip} ${iframe} { width: 2000px !important; transform: rotate(3deg); transform-origin: 0 0 }`,
  },
  /** Nested scroll containers in both axes. */
  nested: {
    wrap: (form) => `<div id="outer"><div id="middle">${box(form)}</div></div>`,
    css: `#outer { width: 90px; height: 200px; overflow: auto }
      #middle { width: 80px; height: 900px; overflow: auto }
      #box { width: 2000px; height: 120px; overflow: scroll }
      ${iframe} { width: 4000px !important }`,
  },
  snap: {
    wrap: box,
    css: `#box { width: 60px; height: 300px; overflow: scroll; scroll-snap-type: both proximity }
      #form { scroll-snap-align: start } ${iframe} { width: 4000px !important; scroll-snap-align: end }`,
  },
  rtl: { wrap: box, css: `html { direction: rtl } ${clip} ${iframe} { width: 4000px !important }` },
  /**
   * Turns the scroll position of a box into the height of an element, which a page without scripts
   * could also turn into requests.
   */
  timeline: {
    wrap: (form) => `<div id="scope">${box(form)}<div id="gauge"></div></div>`,
    css: `${clip} #scope { timeline-scope: --caret } #box { scroll-timeline: --caret inline }
      @keyframes gauge { to { min-height: 4000px } }
      #gauge { min-height: 0; animation: gauge linear both; animation-timeline: --caret }
      ${iframe} { width: 4000px !important }`,
  },
  smooth: {
    wrap: box,
    css: `html, #box { scroll-behavior: smooth } ${clip} ${iframe} { width: 4000px !important }`,
  },
  /**
   * The whole field is visible, so that it accepts input; the padding makes the browser scroll to
   * keep a caret in a narrow strip in the middle.
   */
  padding: { wrap: roomy, css: strip },
  /**
   * Like `padding`, on a page that resets its scroll position at once, so that each key scrolls
   * again.
   */
  restless: {
    wrap: (form) => `${roomy(form)}<script>
      const box = document.getElementById('box');
      box.addEventListener('scroll', () => box.scrollTo(0, 0));
    </script>`,
    css: strip,
  },
  /** A small box over the page, like a modal dialog. */
  dialog: {
    wrap: (form) => `<dialog open id="box">${form}</dialog>`,
    css: `#box { position: fixed; inset: 20px auto auto 20px; width: 90px; height: 160px; padding: 0; overflow: auto }
      ${iframe} { width: 1500px !important }`,
  },
} satisfies Record<string, HostLayout>;

export type LayoutName = keyof typeof layouts;

export const layoutNames = Object.keys(layouts) as LayoutName[];

/**
 * Returns the document of a layout.
 * @param form its content; defaults to the container for `mount` of open-host.ts
 */
export function layoutPage(name: LayoutName, form = '<main id="form"></main>'): string {
  const { css, wrap = (inner: string) => inner }: HostLayout = layouts[name];
  return hostPage(wrap(form), `<style>${css}</style>`);
}

/** Returns the path of a layout on a host with `layoutRoutes`. */
export const layoutPath = (name: LayoutName): string => `/layout/${name}`;

/**
 * Returns a route for each layout.
 * @example
 * const world = await startWorld({}, layoutRoutes(), '127.0.0.1');
 * const page = await openHost(browser, world, {}, layoutPath('clip'));
 */
export function layoutRoutes(): Record<string, Route> {
  return Object.fromEntries(layoutNames.map((name) => [layoutPath(name), layoutPage(name)]));
}
