import { useMemo, useSyncExternalStore } from 'react';
import {
  currentAppearance,
  currentLook,
  onLookChange,
} from '../shared/look.js';

/**
 * Returns appearance tokens that match the page's theme.
 * Rerenders the component when the theme changes.
 */
export function useAppearance() {
  const look = useSyncExternalStore(
    onLookChange,
    currentLook,
  );
  // The computed colors depend on the theme.
  return useMemo(currentAppearance, [look]);
}
