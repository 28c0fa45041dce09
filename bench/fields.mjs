/** A connector type with thirty common fields, one of them a secret. */
const word = (index) => ['Account', 'Region', 'Project', 'Stream', 'Index', 'Topic', 'Folder', 'Channel'][index % 8];

const field = (index) => {
  const words = {
    title: `${word(index)} ${index + 1}`,
    description: `Shown in the console under ${word(index)}, on the second page.`,
  };
  if (index % 10 === 7) return { ...words, type: 'integer', minimum: 1, maximum: 65_535, default: 443 };
  if (index % 10 === 8) return { ...words, type: 'boolean', default: true };
  if (index % 10 === 9) return { ...words, type: 'string', enum: ['one', 'two', 'three', 'four', 'five'] };
  return { ...words, type: 'string', examples: ['example-value'] };
};

export const FIELDS = 30;

export const thirtyFields = {
  type_id: 'thirty-fields',
  kind: 'input',
  name: 'Thirty Fields',
  description: 'Thirty fields of the usual kinds.',
  category: 'Universal',
  vendor: 'Generic',
  version: '1.0.0',
  evidence: 'docs',
  fixed_destination: 'api.example.com',
  config: {
    settings: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: FIELDS - 1 }, (_, index) => [`field_${index}`, field(index)]),
      ),
      required: Array.from({ length: FIELDS - 1 }, (_, index) => `field_${index}`),
      additionalProperties: false,
    },
    secrets: {
      type: 'object',
      properties: {
        token: { type: 'string', title: 'API token', description: 'Shown once, when it is made.', writeOnly: true },
      },
      required: ['token'],
      additionalProperties: false,
    },
  },
};
