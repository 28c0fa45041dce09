/**
 * Whether a person can see all of an element: `unknown` until the browser has said so once; `inside` when no box around it clips it, and
 * nobody has asked whether something covers it.
 */
export type Visibility = 'unknown' | 'clipped' | 'inside' | 'visible' | 'covered';

export interface VisibilityWatch {
  /** As far as it is known. Clips are noticed by themselves, covers only by `certain`. */
  readonly visibility: Visibility;
  /** Looks again whether it is clipped. Resolves once the layout of now has been drawn. */
  check(): Promise<Visibility>;
  /**
   * Looks whether it is clipped or covered. Resolves with `clipped`, `visible` or `covered`; with `clipped` only after two seconds, in
   * which a scroll that was asked for just before can take effect.
   */
  certain(): Promise<Visibility>;
  stop(): void;
}

declare global {
  // Version 2 of the interface, which TypeScript's DOM library does not have: https://w3c.github.io/IntersectionObserver/v2/
  interface IntersectionObserverEntry {
    readonly isVisible?: boolean;
  }
  interface IntersectionObserverInit {
    trackVisibility?: boolean;
    /** Milliseconds. */
    delay?: number;
  }
}

/** Part of the area that must be inside every clip around it. Below 1, as engines round to device pixels. */
const WHOLE = 0.98;

/** Chromium alone tells covers, filters, opacity and transforms that shrink. */
const tracksVisibility = 'isVisible' in IntersectionObserverEntry.prototype;

/**
 * How long a cover must last to be one, in milliseconds. Chromium calls everything in a frame of another process covered until that
 * process has heard from the one of the page around, and looks again no more often than every 100 ms.
 */
const COVER_MS = 2_000;

/** How long a scroll of the pages around the frame may take, in milliseconds. They are in processes of their own. */
const SCROLL_MS = 2_000;

/**
 * Watches whether all of `element` is inside the viewport and every clipping box around it, those of the host page included. Where the
 * browser can tell, `certain` also looks whether anything covers or distorts it.
 *
 * It does not look for covers all the time: while anyone in a frame does, Chromium drops every click into that frame for half a second
 * after it has moved on the screen, so that a click after a scroll would be lost.
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
  const lookForCovers = (): void => {
    if (timer !== undefined) return;
    // One that has found a cover goes on looking for its end; it says nothing while nothing changes.
    covers?.disconnect();
    covers = new IntersectionObserver(
      (entries) => {
        const isVisible = entries.at(-1)?.isVisible === true;
        // Clipped is for the other observer to say.
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
          lookForCovers();
        }
      }
      for (const resolve of checks.splice(0)) resolve(visibility);
    },
    { threshold: [0, 0.5, WHOLE] },
  );
  clips.observe(element);

  /** To observe again is to be told again, once the next frame is laid out. */
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
    stop() {
      clips.disconnect();
      stopCovers();
      for (const resolve of checks.splice(0)) resolve(visibility);
      conclude();
    },
  };
}
