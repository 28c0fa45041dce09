/** Whether a person can see all of an element: `unknown` until the browser has said so once. */
export type Visibility = 'unknown' | 'visible' | 'clipped' | 'covered';

export interface VisibilityWatch {
  readonly visibility: Visibility;
  /** Resolves with the first answer for the present layout, when it is not known or may be old. */
  verdict(): Promise<Visibility>;
  stop(): void;
}

/** Part of the area that must be inside every clip around it. Below 1, as engines round to device pixels. */
const WHOLE = 0.98;

declare global {
  // Version 2 of the interface, which TypeScript's DOM library does not have.
  interface IntersectionObserverEntry {
    readonly isVisible?: boolean;
  }
  interface IntersectionObserverInit {
    trackVisibility?: boolean;
    /** Milliseconds. */
    delay?: number;
  }
}

/** Chromium alone reports covers, transforms, filters and opacity: https://w3c.github.io/IntersectionObserver/v2/ */
const tracksVisibility = 'isVisible' in IntersectionObserverEntry.prototype;

/**
 * How long a cover must last to be one, in milliseconds. Chromium calls everything in a frame of another process covered until that
 * process has heard from the one of the page around, and looks again no more often than every 100 ms.
 */
const COVER_MS = 1_000;

/**
 * Watches whether all of `element` is inside the viewport and every clipping box around it, those of the host page included, and,
 * where the browser can tell, whether nothing covers or distorts it.
 */
export function watchVisibility(element: Element, onChange: (visibility: Visibility) => void): VisibilityWatch {
  let isInside: boolean | undefined;
  let isUncovered = !tracksVisibility;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let visibility: Visibility = 'unknown';
  let waiting: ((visibility: Visibility) => void)[] = [];

  const become = (next: Visibility): void => {
    const before = visibility;
    visibility = next;
    if (next !== before) onChange(next);
    if (next !== 'unknown') for (const resolve of waiting.splice(0)) resolve(next);
  };
  const settle = (): void => {
    if (isInside === undefined) return;
    const isCovered = isInside && !isUncovered;
    if (!isCovered) {
      clearTimeout(timer);
      timer = undefined;
      become(isInside ? 'visible' : 'clipped');
    } else if (timer === undefined) {
      timer = setTimeout(() => become('covered'), COVER_MS);
      become('unknown');
    } else become(visibility);
  };
  const clips = new IntersectionObserver(
    (entries) => {
      isInside = (entries.at(-1)?.intersectionRatio ?? 0) >= WHOLE;
      settle();
    },
    { threshold: [0, 0.5, WHOLE] },
  );
  clips.observe(element);
  const covers = tracksVisibility
    ? new IntersectionObserver(
        (entries) => {
          isUncovered = entries.at(-1)?.isVisible === true;
          settle();
        },
        { threshold: [0, WHOLE], trackVisibility: true, delay: 100 },
      )
    : undefined;
  covers?.observe(element);

  return {
    get visibility() {
      return visibility;
    },
    verdict() {
      // To observe again is to be told again, once the next frame is laid out. Until then it is not known.
      isInside = undefined;
      clips.unobserve(element);
      clips.observe(element);
      return new Promise((resolve) => waiting.push(resolve));
    },
    stop() {
      clips.disconnect();
      covers?.disconnect();
      clearTimeout(timer);
      waiting = [];
    },
  };
}
