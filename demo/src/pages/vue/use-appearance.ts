import { onScopeDispose, shallowRef } from 'vue';
import {
  currentAppearance,
  onLookChange,
} from '../shared/look.js';

/** The form's tokens, from what the page looks like. */
export function useAppearance() {
  const appearance = shallowRef(currentAppearance());
  onScopeDispose(
    onLookChange(() => {
      appearance.value = currentAppearance();
    }),
  );
  return appearance;
}
