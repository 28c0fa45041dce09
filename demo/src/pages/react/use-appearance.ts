import { useMemo, useSyncExternalStore } from 'react';
import {
  currentAppearance,
  currentLook,
  onLookChange,
} from '../shared/look.js';

/** The form's tokens, from what the page looks like. */
export function useAppearance() {
  const look = useSyncExternalStore(
    onLookChange,
    currentLook,
  );
  // Another look has other computed colors.
  return useMemo(currentAppearance, [look]);
}
