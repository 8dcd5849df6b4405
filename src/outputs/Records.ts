/** Records of earlier publications of the service. There are none in `aicr review --publish`. */
import { Context, Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { OperationId } from "../domain/Keys.ts"
import type { ListedFinding, Operation, Publication } from "../domain/Publication.ts"
import type { ForgeError } from "../forge/ForgeError.ts"

/** A person deleted or edited comments of the service, according to deliveries of the host. */
export interface TouchedComment {
  readonly by: string
  readonly action: "deleted" | "edited"
  /** The last time, in milliseconds since the epoch. */
  readonly at: number
}

export interface PublishedRecords {
  /** Returns the operation with this id, by which texts at a host are recognised as those of the service. */
  readonly operation: (id: OperationId) => Effect.Effect<Operation | undefined, ForgeError>
  /** Returns the reviews that earlier runs sent to the target on the channel, the newest first. */
  readonly reviews: (
    row: Pick<Publication, "targetKey" | "channel" | "runId">
  ) => Effect.Effect<ReadonlyArray<Publication>, ForgeError>
  /** Returns the writes to managed issues that earlier runs sent for the target on the channel, the newest first. */
  readonly issues: PublishedRecords["reviews"]
  /** Returns the findings that the newest summary of the channel lists for the target. */
  readonly listed: (
    row: Pick<Publication, "targetKey" | "channel">
  ) => Effect.Effect<ReadonlyArray<ListedFinding>, ForgeError>
  /** Returns what people did to comments of the service on a change. Not every host reports it. */
  readonly touched: (change: Change) => Effect.Effect<ReadonlyArray<TouchedComment>, ForgeError>
  /** Returns when a row was sent, in milliseconds since the epoch. */
  readonly sentAt: (row: Pick<Publication, "id" | "runId">) => Effect.Effect<number | undefined, ForgeError>
}

export const noRecords: PublishedRecords = {
  operation: () => Effect.undefined,
  reviews: () => Effect.succeed([]),
  issues: () => Effect.succeed([]),
  listed: () => Effect.succeed([]),
  touched: () => Effect.succeed([]),
  sentAt: () => Effect.undefined
}

export const Records = Context.Reference<PublishedRecords>("aicr/outputs/Records", { defaultValue: () => noRecords })
