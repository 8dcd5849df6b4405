/** The contract of an adapter of a system whose repository is on its server. */
import type { Effect } from "effect"
import type { Checkouts, CheckoutError, ServerCheckoutRequest } from "./Checkout.ts"
import type { Mounts, ServerMountRequest } from "./ContextRepositories.ts"
import type { DescribeRequest, SubmittedChange } from "./SubmittedChanges.ts"

export interface ServerAdapter extends Checkouts<ServerCheckoutRequest>, Mounts<ServerMountRequest> {
  /** See `SubmittedChanges`. */
  readonly describe: (request: DescribeRequest) => Effect.Effect<SubmittedChange | undefined, CheckoutError>
}
