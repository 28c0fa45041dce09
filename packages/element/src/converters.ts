import type { ComplexAttributeConverter } from '@lit/reactive-element';

/** Text. A removed attribute is `undefined`. */
export const optionalText: ComplexAttributeConverter<string | undefined> = {
  fromAttribute: (value) => value ?? undefined,
};

/** `"false"` is false, because frameworks write it; any other text is true. */
export const flag: ComplexAttributeConverter<boolean> = {
  fromAttribute: (value) => value !== null && value !== 'false',
};

export const milliseconds: ComplexAttributeConverter<number | undefined> = {
  fromAttribute: (value) => (value === null ? undefined : Number(value)),
};

/**
 * JSON. Invalid JSON stays a string, which the check of the options reports; a converter must not
 * throw inside the HTML parser.
 */
export const json: ComplexAttributeConverter = {
  fromAttribute: (value): unknown => {
    try {
      return value === null ? undefined : JSON.parse(value);
    } catch {
      return value;
    }
  },
};

/** One of `values`. An attribute without a value is the first of them, an unknown one `initial`. */
export const oneOf = (values: readonly unknown[], initial: unknown): ComplexAttributeConverter => ({
  fromAttribute: (value): unknown => (value === '' ? values[0] : values.includes(value) ? value : initial),
});
