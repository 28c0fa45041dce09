import type { ComplexAttributeConverter } from '@lit/reactive-element';

/** Text; an attribute that is taken away is no text. */
export const text: ComplexAttributeConverter<string | undefined> = {
  fromAttribute: (value) => value ?? undefined,
};

/** `"false"` is false, as frameworks write it out; any other text is true. */
export const flag: ComplexAttributeConverter<boolean> = {
  fromAttribute: (value) => value !== null && value !== 'false',
};

export const milliseconds: ComplexAttributeConverter<number | undefined> = {
  fromAttribute: (value) => (value === null ? undefined : Number(value)),
};

/** JSON. What is none stays the text it is: the check of the options tells of it, and nothing is thrown at the parser. */
export const json: ComplexAttributeConverter = {
  fromAttribute: (value): unknown => {
    try {
      return value === null ? undefined : JSON.parse(value);
    } catch {
      return value;
    }
  },
};

/** When the form's page is loaded ahead. */
export type Preload = 'hover' | 'focus' | 'idle' | 'none';

/** The attribute without a value means `idle`; an unknown word means nothing. */
export const preloading: ComplexAttributeConverter<Preload> = {
  fromAttribute: (value) => {
    if (value === '' || value === 'idle') return 'idle';
    return value === 'hover' || value === 'focus' ? value : 'none';
  },
};
