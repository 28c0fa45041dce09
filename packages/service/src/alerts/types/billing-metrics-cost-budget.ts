import { z } from 'zod';
import type { CurrentCost } from '../../billing/current-cost.js';
import { defineRuleType, secondsOf } from '../rule-type.js';

const NANODOLLARS = 1_000_000_000n;

const settings = z.strictObject({
  usd_amount: z
    .int()
    .min(1)
    .describe('The budget in US dollars. The alert fires when the cost of the billing cycle or month is above it.'),
});

export const billingMetricsCostBudget = defineRuleType({
  typeId: 'billing-metrics-cost-budget',
  name: 'Cost budget',
  description: 'The cost of an organization in the present billing cycle or month is above a budget.',
  category: 'Operational',
  granularity: 'billing_account',
  house: 'Billing',
  settings,
  compile({ usd_amount: budget }) {
    const limit = BigInt(budget) * NANODOLLARS;
    return {
      reads: 'cost',
      judge: ({ nanodollars }) => (nanodollars > limit ? 'holds' : 'clear'),
      explain(cost) {
        const { of, billingAccountId, nanodollars, period } = cost;
        const isOver = nanodollars > limit;
        return {
          description: `${subjectOf(cost)} $${dollars(nanodollars)}, ${isOver ? 'above' : 'within'} the budget of $${budget}.`,
          metadata: {
            usd_amount: budget,
            current_invoice_price: dollars(nanodollars),
            current_overage_amount_value: dollars(isOver ? nanodollars - limit : 0n),
            current_overage_amount_percentage: `${hundredths((nanodollars * 10_000n) / limit)}%`,
            cost_of: of,
            ...(billingAccountId !== undefined && { billing_account_id: billingAccountId }),
            period_start: secondsOf(period.start),
            period_end: secondsOf(period.end),
          },
        };
      },
    };
  },
});

const subjectOf = ({ of, billingAccountId }: CurrentCost): string =>
  of === 'invoice'
    ? `The current invoice of billing account ${billingAccountId} is`
    : 'What the destinations of the organization store this month costs';

const dollars = (nanodollars: bigint): string => hundredths(nanodollars / (NANODOLLARS / 100n));

const hundredths = (amount: bigint): string => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;
