import { onScopeDispose, shallowRef } from 'vue';
import {
  currentAppearance,
  onLookChange,
} from '../shared/look.js';

/**
 * Returns appearance tokens that match the page's theme.
 * The ref updates when the theme changes.
 */
export function useAppearance() {
  const appearance = shallowRef(currentAppearance());
  onScopeDispose(
    onLookChange(() => {
      appearance.value = currentAppearance();
    }),
  );
  return appearance;
}
