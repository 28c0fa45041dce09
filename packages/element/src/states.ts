/** What `:state()` can ask an element for; silent in browsers that know no states. */
export interface ElementStates<State extends string> {
  set(state: State, isOn: boolean): void;
}

export function createStates<State extends string>(element: HTMLElement): ElementStates<State> {
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
