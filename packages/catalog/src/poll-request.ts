/** Requests of a `poll` definition. `poll.ts` describes the templates. */

/** String with `{{...}}` placeholders. */
export type PollTemplate = string;
/** JSON Pointer into a record or a response. The empty string selects all of it. */
export type PollPath = string;
/** JSON Pointer of a setting (`/settings/...`) or a secret (`/secrets/...`). */
export type PollField = string;

/**
 * JSON whose strings are templates. A string that is one placeholder and nothing else becomes its
 * value with the value's type: a number, a boolean, a list. A property whose template refers to a
 * value that does not exist is omitted, and so is an object that loses all its properties. An item
 * of a list is omitted as a whole if it refers to such a value.
 */
export type PollBody =
  PollTemplate | number | boolean | null | readonly PollBody[] | { readonly [name: string]: PollBody };

export interface PollRequest {
  /** Default `GET`, or `POST` with `body`, `form` or `graphql`. */
  method?: 'GET' | 'POST' | 'PUT';
  /** Appended to `base_url`. Each interpolated value is one path segment. */
  path: PollTemplate;
  /** The parts of a list are joined with a space. */
  query?: Readonly<Record<string, PollTemplate | readonly PollTemplate[]>>;
  /** JSON body. */
  body?: { readonly [name: string]: PollBody } | readonly PollBody[];
  /** Body in the format of an HTML form. The parts of a list are joined with a space. */
  form?: Readonly<Record<string, PollTemplate | readonly PollTemplate[]>>;
  /**
   * GraphQL query, sent as JSON. A response with `errors` is a failure, whatever its status. The
   * query is sent as it is written: values go into `variables`.
   */
  graphql?: { query: string; variables?: { readonly [name: string]: PollBody } };
}
