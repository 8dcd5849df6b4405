/**
 * Who writes to a host, and what has to hold at the moment of the write. Required by every write of a client, so that one without an
 * owner does not compile.
 */
import { Context, Effect } from "effect"
import type { ForgeError } from "./Forge.ts"
import type { WriteTurns } from "./WriteTurns.ts"

export interface WriteChecks {
  /**
   * Of every write: whether the writer is still the one to do it. Run last, so that a process that was frozen while it waited for its
   * turn finds out that another one has written since.
   */
  readonly fence: Effect.Effect<void, ForgeError>
  /**
   * Of a content write. Writes of one token wait for their turn, and what was true before the wait may not be true after it: the guard
   * runs within the turn, right before the request. When it fails nothing is sent and its error is the write's.
   */
  readonly guard: Effect.Effect<void, ForgeError>
}

export class WriteOwner extends Context.Service<WriteOwner, WriteChecks>()("aicr/forge/WriteOwner") {}

/** What a client needs to write. */
export type Writing = WriteOwner | WriteTurns

/** Of a write that changes nothing people see and that any process may repeat, such as issuing a token. */
export const anyWriter: WriteChecks = { fence: Effect.void, guard: Effect.void }

/** A fence that took longer than this many milliseconds says nothing about now. */
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
