import { formOptions } from '@connector-frame/core/options';
import { cssAppearance } from './css-appearance.js';
import type { CompleteOptions } from './element-options.js';

type FormOptionName = keyof typeof formOptions;

const isFormOption = (name: string): name is FormOptionName => name in formOptions;
const names = Object.keys(formOptions).filter(isFormOption);

/**
 * Returns the options of the form as `createConnectorFrame` takes them. Flags that are off are
 * absent, as if they were not given.
 */
export function readFormOptions(element: CompleteOptions & HTMLElement): Pick<CompleteOptions, FormOptionName> {
  // `Object.fromEntries` loses the types.
  const given: Pick<CompleteOptions, FormOptionName> = Object.fromEntries(
    names.map((name): unknown[] => [name, element[name] === false ? undefined : element[name]]),
  );
  const tokens = Object.entries(element.appearance ?? {}).filter(([, value]) => value !== undefined);
  const appearance = { ...cssAppearance(element), ...Object.fromEntries(tokens) };
  return {
    ...given,
    existingId: given.existingId || undefined,
    appearance: Object.keys(appearance).length > 0 ? appearance : undefined,
  };
}
