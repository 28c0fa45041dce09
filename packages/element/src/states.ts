/** The custom states of an element, for `:state()`. No effect in browsers without them. */
export interface ElementStates<State extends string> {
  set(state: State, isOn: boolean): void;
}

/** Attaches custom states to an element. */
export function createStates<State extends string>(element: HTMLElement): ElementStates<State> {
  const { states } = element.attachInternals();
  return {
    set(state, isOn) {
      try {
        if (isOn) states.add(state);
        else states.delete(state);
      } catch {
        // Browsers without `:state()` accept only names with two hyphens, or have no set.
      }
    },
  };
}
