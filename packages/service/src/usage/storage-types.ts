/** Types of outputs that store nothing and cost nothing. */
const NOT_BILLABLE: readonly string[] = ['dev-null'];

export const BILLING_TYPES = ['billable', 'non_billable'] as const;
export type BillingType = (typeof BILLING_TYPES)[number];

/** Returns the types among `types` that are billable or not. */
export const typesOf = (billingType: BillingType, types: readonly string[]): string[] =>
  types.filter((type) => NOT_BILLABLE.includes(type) === (billingType === 'non_billable'));
