import { cssAppearance } from './css-appearance.js';
import type { CompleteSettings } from './frame-settings.js';

/** What the form itself is told, as `createConnectorFrame` takes it. A flag that is off is not given at all. */
export function formOptions(settings: CompleteSettings & HTMLElement) {
  const given = Object.entries(settings.appearance ?? {}).filter(([, value]) => value !== undefined);
  const appearance = { ...cssAppearance(settings), ...Object.fromEntries(given) };
  return {
    kind: settings.kind,
    typeId: settings.typeId,
    existingId: settings.existingId || undefined,
    displayName: settings.displayName,
    name: settings.name,
    description: settings.description,
    isNameEditable: settings.isNameEditable || undefined,
    isDescriptionEditable: settings.isDescriptionEditable || undefined,
    appearance: Object.keys(appearance).length > 0 ? appearance : undefined,
    stylesheets: settings.stylesheets,
    configMetaOverrides: settings.configMetaOverrides,
    synthetic: settings.synthetic || undefined,
    loadTimeout: settings.loadTimeout,
  };
}
