import type { Route } from '../serve.js';
import { hostPage } from '../world.js';

/** A host page that makes the frame's layout observable. */
interface HostLayout {
  css: string;
  /** Around `<main id="form"></main>`. */
  wrap?: (form: string) => string;
}

const box = (form: string): string => `<div id="box">${form}</div>`;
const clip = '#box { width: 60px; height: 300px; overflow: hidden }';
const iframe = '#form iframe';
/** A box that is larger than the frame and can be scrolled all the same. */
const roomy = (form: string): string => `<div id="box"><div id="room">${form}</div></div>`;
const strip = `#box { width: 700px; height: 800px; overflow: auto; scroll-padding: 395px 340px }
  #room { width: 2000px; height: 2000px } ${iframe} { width: 600px !important; scroll-margin: 0 }`;

/**
 * Ways for a host page to learn where something is inside of the frame. Browsers scroll every box around a caret to keep
 * it in sight, across the border of the frame: a box that is narrower than the frame turns that into a number that the
 * page reads.
 */
const layouts = {
  plain: { css: '' },
  /** A wide frame in a narrow box. */
  clip: { wrap: box, css: `${clip} ${iframe} { width: 4000px !important }` },
  /** Glyphs are wide enough for rounded positions to tell them apart. */
  zoom: { wrap: box, css: `${clip} ${iframe} { width: 500px !important; zoom: 8 }` },
  scale: {
    wrap: box,
    css: `${clip} ${iframe} { width: 1000px !important; transform: scale(4); transform-origin: 0 0 }`,
  },
  rotate: {
    wrap: box,
    css: `${clip} ${iframe} { width: 2000px !important; transform: rotate(3deg); transform-origin: 0 0 }`,
  },
  /** Scroll containers in both axes, one in the other. */
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
  /** The position of a box becomes the height of an element, which also a page without scripts could turn into requests. */
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
   * All of a field is in sight, so that it takes input; the padding makes the browser scroll to hold a caret in a narrow
   * strip in the middle.
   */
  padding: { wrap: roomy, css: strip },
  /** The same, by a page that scrolls back at once, so that each key scrolls again. */
  restless: {
    wrap: (form) => `${roomy(form)}<script>
      const box = document.getElementById('box');
      box.addEventListener('scroll', () => box.scrollTo(0, 0));
    </script>`,
    css: strip,
  },
  /** A small box over the page, as a modal dialog is. */
  dialog: {
    wrap: (form) => `<dialog open id="box">${form}</dialog>`,
    css: `#box { position: fixed; inset: 20px auto auto 20px; width: 90px; height: 160px; padding: 0; overflow: auto }
      ${iframe} { width: 1500px !important }`,
  },
} satisfies Record<string, HostLayout>;

export type LayoutName = keyof typeof layouts;

export const layoutNames = Object.keys(layouts) as LayoutName[];

/** The document of a layout. @param form what is in it; by default the place for `mount` of open-host.ts */
export function layoutPage(name: LayoutName, form = '<main id="form"></main>'): string {
  const { css, wrap = (inner: string) => inner }: HostLayout = layouts[name];
  return hostPage(wrap(form), `<style>${css}</style>`);
}

/** The path of a layout on a host with `layoutRoutes`. */
export const layoutPath = (name: LayoutName): string => `/layout/${name}`;

/**
 * A page for each layout.
 * @example const world = await startWorld({}, layoutRoutes(), '127.0.0.1');
 * const page = await openHost(browser, world, {}, layoutPath('clip'));
 */
export function layoutRoutes(): Record<string, Route> {
  return Object.fromEntries(layoutNames.map((name) => [layoutPath(name), layoutPage(name)]));
}
