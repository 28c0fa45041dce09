/** The texts of `<connector-frame>` outside of the form, which has its own. */
export interface FrameMessages {
  /** Announced to screen readers while the form loads. */
  loading: string;
  /** Title of the view that replaces a form that can't be shown. The cause is shown below it. */
  loadFailed: string;
  /**
   * The cause, if it is neither in `causes` nor a message of your session route. `error.message` is
   * for developers; users don't see it.
   */
  loadFailedHint: string;
  /** Button of that view. */
  tryAgain: string;
  /** Causes by `error.code`. They replace the message of your session route as well. */
  causes: Readonly<Partial<Record<string, string>>>;
}

/** The texts of `<connector-catalog>`, besides those of errors. */
export interface CatalogMessages {
  /** Placeholder and label of the catalog's search field. */
  searchProducts: string;
  /** Label of the category filter. */
  category: string;
  /** Option of the category filter that shows everything. */
  allCategories: string;
  /** Label of the list of connector types. */
  products: string;
  /** Number of the connector types that match, and of all. */
  count: (found: number, total: number) => string;
  /** Announced to screen readers while the catalog loads. */
  loadingProducts: string;
  /** Shown if the catalog could not be loaded, before the cause. */
  productsFailed: string;
  /** Shown if no connector type matches the search. */
  noMatches: string;
  /** Shown with a connector type that this release of the service can save, but not run. */
  savedOnly: string;
  /** Shown with a type that needs an agent on the host, and so can't run. */
  needsAgent: string;
  /** Shown with a type whose protocol is not public. */
  proprietary: string;
  /** Shown with a type whose vendor has withdrawn the API. */
  withdrawn: string;
}

/** The texts of both elements. */
export interface ElementMessages extends FrameMessages, CatalogMessages {}

/** English, the default. */
export const en: FrameMessages = {
  loading: 'Loading the form',
  loadFailed: 'The form could not be loaded',
  loadFailedHint: 'Try again. If it keeps failing, contact the people who run this page.',
  causes: {
    connector_not_found: 'This connector no longer exists. It may have been deleted. Choose another one.',
    offline: 'You are offline. Try again once you are connected.',
  },
  tryAgain: 'Try again',
};

/** English texts of the catalog. Separate, so that the script of the form has no copy. */
export const catalogEn: CatalogMessages = {
  searchProducts: 'Search products',
  category: 'Category',
  allCategories: 'All categories',
  products: 'Products',
  count(found, total) {
    const products = total === 1 ? '1 product' : `${total} products`;
    return found === total ? products : `${found} of ${products}`;
  },
  loadingProducts: 'Loading the products',
  productsFailed: 'The products could not be loaded.',
  noMatches: 'Nothing matches. Try another word, or all categories.',
  savedOnly: 'Can be saved, but no data flows yet.',
  needsAgent: 'No data can flow: it needs an agent on the host.',
  proprietary: 'No data can flow: its protocol is not public.',
  withdrawn: 'No data can flow: the vendor has withdrawn this API.',
};
