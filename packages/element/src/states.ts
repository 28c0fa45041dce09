/** What `:state()` can ask an element for. */
export type FrameState = 'loading' | 'ready' | 'error' | 'saved';

/** The states of an element; silent in browsers that know none. */
export interface FrameStates {
  set(state: FrameState, isOn: boolean): void;
}

export function createStates(element: HTMLElement): FrameStates {
  const { states } = element.attachInternals();
  return {
    set(state, isOn) {
      try {
        if (isOn) states.add(state);
        else states.delete(state);
      } catch {
        // Browsers from before `:state()` take names with two hyphens only, or have no set at all.
      }
    },
  };
}
