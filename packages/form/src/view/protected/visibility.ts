/**
 * Whether the user can see all of an element. `unknown` until the browser's first report; `inside`
 * when no enclosing box clips it and covers have not been checked.
 */
export type Visibility = 'unknown' | 'clipped' | 'inside' | 'visible' | 'covered';

export interface VisibilityWatch {
  /** The last known visibility. Clipping is tracked continuously, covers only by `certain`. */
  readonly visibility: Visibility;
  /**
   * Checks again whether the element is clipped. Resolves after the current layout has been
   * rendered.
   */
  check(): Promise<Visibility>;
  /**
   * Checks whether the element is clipped or covered. Resolves with `clipped`, `visible` or
   * `covered`, or `inside` if interrupted; with `clipped` only after two seconds, so that a scroll
   * requested just before can take effect.
   */
  certain(): Promise<Visibility>;
  /** Ends running checks for covers: `certain` resolves with `inside`. */
  interrupt(): void;
  stop(): void;
}

declare global {
  // Version 2 of the interface, which is missing from TypeScript's DOM library:
  // https://w3c.github.io/IntersectionObserver/v2/
  interface IntersectionObserverEntry {
    readonly isVisible?: boolean;
  }
  interface IntersectionObserverInit {
    trackVisibility?: boolean;
    /** Milliseconds. */
    delay?: number;
  }
}

/**
 * Share of the area that must be inside every enclosing clipping box. Below 1, because engines
 * round to device pixels.
 */
const WHOLE = 0.98;

/** Only Chromium reports covers, filters, opacity and transforms that shrink. */
const tracksVisibility = 'isVisible' in IntersectionObserverEntry.prototype;

/**
 * How long a cover must last to count, in milliseconds. Chromium reports everything in an
 * out-of-process frame as covered until its process has received data from that of the embedding
 * page, and checks at most every 100 ms.
 */
const COVER_MS = 2_000;

/**
 * How long a scroll of the embedding pages may take, in milliseconds. They run in other processes.
 */
const SCROLL_MS = 2_000;

/**
 * Watches whether all of `element` is inside the viewport and every enclosing clipping box,
 * including those of the host page. Where the browser supports it, `certain` also checks whether
 * anything covers or distorts the element.
 *
 * Covers are not tracked continuously: while any observer in a frame does so, Chromium drops every
 * click into that frame for half a second after the frame has moved on screen, so a click after a
 * scroll would be lost.
 */
export function watchVisibility(element: Element, onChange: (visibility: Visibility) => void): VisibilityWatch {
  let visibility: Visibility = 'unknown';
  const checks: ((visibility: Visibility) => void)[] = [];
  const certains: ((visibility: Visibility) => void)[] = [];
  let covers: IntersectionObserver | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let scrolling: ReturnType<typeof setTimeout> | undefined;

  const become = (next: Visibility): void => {
    const before = visibility;
    visibility = next;
    if (next !== before) onChange(next);
  };
  const conclude = (): void => {
    clearTimeout(scrolling);
    scrolling = undefined;
    for (const resolve of certains.splice(0)) resolve(visibility);
  };
  const stopCovers = (): void => {
    clearTimeout(timer);
    timer = undefined;
    covers?.disconnect();
    covers = undefined;
  };
  const checkCovers = (): void => {
    if (timer !== undefined) return;
    // An observer that has reported a cover reports nothing until the cover ends, so start a new
    // one.
    covers?.disconnect();
    covers = new IntersectionObserver(
      (entries) => {
        const isVisible = entries.at(-1)?.isVisible === true;
        // The other observer, `clips`, reports clipping.
        if (!isVisible || visibility === 'clipped') return;
        stopCovers();
        become('visible');
        conclude();
      },
      { threshold: [0, WHOLE], trackVisibility: true, delay: 100 },
    );
    covers.observe(element);
    timer = setTimeout(() => {
      timer = undefined;
      if (visibility !== 'clipped') become('covered');
      conclude();
    }, COVER_MS);
  };
  const clips = new IntersectionObserver(
    (entries) => {
      const isInside = (entries.at(-1)?.intersectionRatio ?? 0) >= WHOLE;
      if (!isInside) {
        stopCovers();
        become('clipped');
        if (certains.length > 0) scrolling ??= setTimeout(conclude, SCROLL_MS);
      } else if (!tracksVisibility) {
        become('visible');
        conclude();
      } else {
        if (visibility === 'unknown' || visibility === 'clipped') become('inside');
        if (certains.length > 0) {
          clearTimeout(scrolling);
          scrolling = undefined;
          checkCovers();
        }
      }
      for (const resolve of checks.splice(0)) resolve(visibility);
    },
    { threshold: [0, 0.5, WHOLE] },
  );
  clips.observe(element);

  /** Observing again triggers a new report once the next frame is laid out. */
  const observeAgain = (): void => {
    clips.unobserve(element);
    clips.observe(element);
  };

  return {
    get visibility() {
      return visibility;
    },
    check: () =>
      new Promise((resolve) => {
        checks.push(resolve);
        observeAgain();
      }),
    certain: () =>
      new Promise((resolve) => {
        certains.push(resolve);
        observeAgain();
      }),
    interrupt() {
      stopCovers();
      for (const resolve of certains.splice(0)) resolve('inside');
    },
    stop() {
      clips.disconnect();
      stopCovers();
      for (const resolve of checks.splice(0)) resolve(visibility);
      conclude();
    },
  };
}
