import { onScopeDispose, shallowRef } from 'vue';
import {
  currentAppearance,
  onThemeChange,
} from '../shared/theme.js';

/**
 * Returns appearance tokens that match the page's theme.
 * The ref updates when the theme changes.
 */
export function useAppearance() {
  const appearance = shallowRef(currentAppearance());
  onScopeDispose(
    onThemeChange(() => {
      appearance.value = currentAppearance();
    }),
  );
  return appearance;
}
