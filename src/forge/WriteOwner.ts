/**
 * Preconditions that the owner of a write checks right before it. Every write of a client requires this service, so that a write
 * without an owner does not compile.
 */
import { Context, Effect } from "effect"
import type { ForgeError } from "./ForgeError.ts"
import type { WritePermits } from "./WritePermits.ts"

interface WriteChecks {
  /**
   * Checks for every write whether the writer still owns it. Runs last, so that a process that was frozen while it waited for its
   * permit detects that another process has written since then.
   */
  readonly fence: Effect.Effect<void, ForgeError>
  /**
   * Checks for a content write whether its conditions still hold. Writes of one token wait for a permit, and the state may change
   * during the wait: the guard runs under the permit, right before the request. When it fails, nothing is sent and its error
   * becomes the result of the write.
   */
  readonly guard: Effect.Effect<void, ForgeError>
  /**
   * Reads what the guard needs, before a content write requests its permit, so that other writes of the account do not wait for this read.
   * When it fails, no permit is requested and its error becomes the result of the write.
   */
  readonly beforePermit?: Effect.Effect<void, ForgeError>
}

export class WriteOwner extends Context.Service<WriteOwner, WriteChecks>()("aicr/forge/WriteOwner") {}

/**
 * Returns whether, by the count of the host, the pull request has no comment but those of the writer's own run. Then an earlier attempt left
 * nothing to search for.
 */
export const HasNoOthers = Context.Reference<Effect.Effect<boolean, ForgeError>>("aicr/forge/HasNoOthers", {
  defaultValue: () => Effect.succeed(false)
})

/** Returns whether the change may get comments at lines: a closed one only gets its summary. */
export const TakesLineComments = Context.Reference<Effect.Effect<boolean, ForgeError>>("aicr/forge/TakesLineComments", {
  defaultValue: () => Effect.succeed(true)
})

/** The records about the writes of a status of one commit. */
export interface WrittenRecords {
  /** Ids that the host returned for them. */
  readonly hostIds: ReadonlyArray<string>
  /** False if a write may have reached the host without being recorded. */
  readonly isCertain: boolean
}

/** The records about the status of the commit that is being written; undefined if they were not read. */
export const WrittenStatus = Context.Reference<WrittenRecords | undefined>("aicr/forge/WrittenStatus", {
  defaultValue: () => undefined
})

/** Services that a client requires for a write. */
export type Writing = WriteOwner | WritePermits

/** Checks for a write that is invisible to people and that any process may repeat, such as issuing a token. */
export const anyWriter: WriteChecks = { fence: Effect.void, guard: Effect.void }

/** Milliseconds after which the result of a fence is stale. */
const fenceMaxAge = 3000

/** Runs the fence until its result is fresh. */
export const checkFence: Effect.Effect<void, ForgeError, WriteOwner> = Effect.gen(function* () {
  const { fence } = yield* WriteOwner
  let startedAt: number
  do {
    startedAt = performance.now()
    yield* fence
  } while (performance.now() - startedAt > fenceMaxAge)
})
