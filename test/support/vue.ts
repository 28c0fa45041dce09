/** The first and the latest Vue the adapter promises to work with, as `alias` of `bundle`. */
export const vues = [
  { vue: '3.5', alias: {} },
  { vue: '3.4', alias: { vue: 'vue-3.4' } },
];
