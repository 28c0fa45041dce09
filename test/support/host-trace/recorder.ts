/** One observation of a page: the channel, and its value as JSON. */
export type Observation = [channel: string, value: string];

/** The observations of a page, in order. */
export interface Recording {
  observations: Observation[];
  /** Observations that depend on the load of the machine and vary from run to run. */
  timing: Observation[];
}

export interface Recorder {
  /** Discards the recording and records the page's state again. */
  start(): void;
  /** Resolves once nothing new was observed in ten animation frames. */
  settled(): Promise<void>;
  recording(): Recording;
}

declare global {
  /** Available in a host page with the recorder installed. */
  var hostRecorder: Recorder;
}

/**
 * Records everything a page can observe about a frame in it. Runs in the page, as a hostile host's
 * script would. Records every event, and each state that is sampled per animation frame when it
 * changes.
 * @param selector finds the iframe, including in open shadow roots
 */
export function installRecorder(selector: string): void {
  let observations: Observation[] = [];
  let timing: Observation[] = [];
  const last = new Map<string, string>();
  const json = (value: unknown): string => {
    try {
      return JSON.stringify(value) ?? 'undefined';
    } catch {
      return String(value);
    }
  };
  const observe = (channel: string, value: unknown): void => void observations.push([channel, json(value)]);

  function findIframe(root: ParentNode): HTMLIFrameElement | undefined {
    const direct = root.querySelector<HTMLIFrameElement>(selector);
    if (direct) return direct;
    for (const { shadowRoot } of root.querySelectorAll('*')) {
      const inside = shadowRoot && findIframe(shadowRoot);
      if (inside) return inside;
    }
    return undefined;
  }
  /** Returns the iframe and all its ancestors, through shadow roots. */
  function chain(): Element[] {
    const found: Element[] = [];
    let node: Node | null = findIframe(document) ?? null;
    while (node) {
      if (node instanceof Element) found.push(node);
      node = node instanceof ShadowRoot ? node.host : node.parentNode;
    }
    return found;
  }
  const nameOf = (target: EventTarget | null): string => {
    if (target === globalThis.window) return 'window';
    if (target === document) return 'document';
    return target instanceof Element ? `${target.localName}${target.id && `#${target.id}`}` : 'something else';
  };
  const boxOf = ({ x, y, width, height }: DOMRectReadOnly): number[] => [x, y, width, height];

  addEventListener('message', ({ data, origin, source, ports }) => {
    const from = source === findIframe(document)?.contentWindow ? 'the frame' : 'another window';
    observe('message', [from, origin, data, ports.length]);
    sample();
  });
  const observed = (event: Event): void => {
    const { type, target, isTrusted } = event;
    const { key, data, inputType, clientX, clientY, deltaX, deltaY, deltaMode } = event as Partial<
      KeyboardEvent & InputEvent & WheelEvent
    >;
    const detail = { key, data, inputType, clientX, clientY, deltaX, deltaY, deltaMode };
    observe(type.startsWith('scroll') ? 'scroll' : 'event', [type, nameOf(target), isTrusted, detail]);
    sample();
  };
  const types = `focus blur focusin focusout visibilitychange pagehide pageshow resize fullscreenchange
    keydown keypress keyup beforeinput input change select selectstart selectionchange
    compositionstart compositionupdate compositionend copy cut paste contextmenu
    pointerdown pointerup pointermove pointerover pointerout pointercancel gotpointercapture
    mousedown mouseup mousemove mouseover mouseout click auxclick dblclick wheel
    touchstart touchmove touchend touchcancel dragenter dragover dragleave drop dragend
    scroll scrollend scrollsnapchange scrollsnapchanging animationstart animationend transitionrun
    popstate hashchange storage securitypolicyviolation error unhandledrejection load`;
  for (const type of types.split(/\s+/)) {
    addEventListener(type, observed, true);
  }
  for (const type of ['resize', 'scroll', 'scrollend']) visualViewport?.addEventListener(type, observed);
  document.addEventListener('selectionchange', observed);

  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) observe('resize', [nameOf(target), boxOf(contentRect)]);
  });
  const threshold = Array.from({ length: 101 }, (_, percent) => percent / 100);
  // IntersectionObserver v2 in Chromium also reports whether something covers the frame.
  const options = { threshold, trackVisibility: true, delay: 100 };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const { target, intersectionRatio, isIntersecting, boundingClientRect, intersectionRect } = entry;
      const { isVisible } = entry as IntersectionObserverEntry & { isVisible?: boolean };
      const boxes = [boxOf(boundingClientRect), boxOf(intersectionRect)];
      observe('intersection', [nameOf(target), intersectionRatio, isIntersecting, isVisible, boxes]);
    }
  }, options);
  const watched = new Set<Element>();

  const entryValues: Record<string, (entry: never) => unknown> = {
    resource: ({ name, initiatorType, transferSize, encodedBodySize, decodedBodySize }: PerformanceResourceTiming) => [
      name,
      initiatorType,
      transferSize,
      encodedBodySize,
      decodedBodySize,
    ],
    'layout-shift': ({ value, sources }: { value: number; sources?: { node?: Node; currentRect: DOMRect }[] }) => [
      value,
      sources?.map(({ node, currentRect }) => [nameOf(node ?? null), boxOf(currentRect)]),
    ],
    navigation: ({ name }: PerformanceEntry) => name,
    'visibility-state': ({ name }: PerformanceEntry) => name,
    mark: ({ name }: PerformanceEntry) => name,
    measure: ({ name }: PerformanceEntry) => name,
  };
  for (const type of PerformanceObserver.supportedEntryTypes) {
    const value = entryValues[type];
    const record = (entry: PerformanceEntry): void => {
      if (value) observe('performance', [type, value(entry as never)]);
      // Event timing, long tasks, long animation frames and paints vary with the load of the
      // machine.
      else timing.push([type, json(entry)]);
    };
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(record));
    observer.observe({ type, buffered: false, ...(type === 'event' && { durationThreshold: 16 }) });
  }

  function sample(): void {
    const elements = chain();
    for (const element of elements) {
      if (watched.has(element)) continue;
      watched.add(element);
      sizes.observe(element);
      seen.observe(element);
    }
    const record = (channel: string, value: unknown): void => {
      const text = json(value);
      if (last.get(channel) === text) return;
      last.set(channel, text);
      observations.push([channel, text]);
    };
    const { scale, offsetLeft, offsetTop, pageLeft, pageTop, width, height } = visualViewport ?? {};
    record('positions', [
      [scrollX, scrollY, innerWidth, innerHeight],
      [scale, offsetLeft, offsetTop, pageLeft, pageTop, width, height],
      elements.map((element) => {
        const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = element;
        return [nameOf(element), scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight];
      }),
    ]);
    record(
      'boxes',
      [...document.querySelectorAll('body *')].map((element) => [
        nameOf(element),
        boxOf(element.getBoundingClientRect()),
      ]),
    );
    record('focus', [
      nameOf(document.activeElement),
      document.hasFocus(),
      document.visibilityState,
      navigator.userActivation?.hasBeenActive,
      getSelection()?.type,
      String(getSelection()),
    ]);
    const iframe = elements[0] as HTMLIFrameElement | undefined;
    // Two channels, because the values come from different processes in no fixed order.
    record('frames', [frames.length, iframe?.contentWindow?.closed]);
    record('frames in the frame', iframe?.contentWindow?.length);
    record('history', history.length);
    record('document', [document.title, location.href, document.cookie, iframe?.outerHTML, document.body.outerHTML]);
    record('storage', [Object.entries(localStorage), Object.entries(sessionStorage)]);
    const isActive = json(navigator.userActivation?.isActive);
    if (last.get('activation') !== isActive) timing.push(['activation', isActive]);
    last.set('activation', isActive);
  }
  const loop = (): void => {
    sample();
    requestAnimationFrame(loop);
  };
  loop();

  const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
  globalThis.hostRecorder = {
    start() {
      observations = [];
      timing = [];
      last.clear();
      sample();
    },
    async settled() {
      for (let quiet = 0, count = observations.length; quiet < 10; quiet += 1) {
        await frame();
        if (observations.length !== count) [quiet, count] = [0, observations.length];
      }
    },
    recording: () => ({ observations: [...observations], timing: [...timing] }),
  };
}
