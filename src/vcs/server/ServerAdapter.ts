/** The contract of an adapter of a system whose repository is on its server. */
import type { Checkouts, ServerCheckoutRequest } from "../Checkout.ts"
import type { Mounts, ServerMountRequest } from "../ContextRepositories.ts"
import type { SubmittedChanges } from "../SubmittedChanges.ts"

export interface ServerAdapter extends Checkouts<ServerCheckoutRequest>, Mounts<ServerMountRequest> {
  readonly describe: SubmittedChanges["Service"]["describe"]
  readonly list: SubmittedChanges["Service"]["list"]
  readonly endedShelves: SubmittedChanges["Service"]["endedShelves"]
}
