import { useMemo, useSyncExternalStore } from 'react';
import {
  currentAppearance,
  currentTheme,
  onThemeChange,
} from '../shared/theme.js';

/**
 * Returns appearance tokens that match the page's theme.
 * Rerenders the component when the theme changes.
 */
export function useAppearance() {
  const theme = useSyncExternalStore(
    onThemeChange,
    currentTheme,
  );
  // The computed colors depend on the theme.
  return useMemo(currentAppearance, [theme]);
}
