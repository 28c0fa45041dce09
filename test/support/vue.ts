/** The oldest and the latest Vue versions the adapter supports, as `alias` of `bundle`. */
export const vues = [
  { vue: '3.5', alias: {} },
  { vue: '3.4', alias: { vue: 'vue-3.4' } },
];
