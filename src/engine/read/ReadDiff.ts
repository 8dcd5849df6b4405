/** A diff read into the thread that holds the change, as it streams; too much of it ends it. */
import { Effect, Fiber, Stream } from "effect"
import { CheckoutError } from "../../vcs/Checkout.ts"
import { PatchTooLarge } from "./PatchTooLarge.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { DiffProgress } from "../work/ReadWork.ts"

/** Bytes that are handed over together. */
const messageBytes = 524_288

/** Returns the bytes of the kept files; fails when they are over `room`, the unused part of the setting `limit`. */
export const readDiff = Effect.fnUntraced(function* (
  change: ChangeThread,
  diff: Stream.Stream<Uint8Array, CheckoutError>,
  room: number,
  limit: number
): Effect.fn.Return<number, CheckoutError | PatchTooLarge | AnalysisError> {
  const state: HandOver = { chunks: [], bytes: 0, parsing: undefined }
  // The next bytes are read while the thread parses; the number of waiting bytes is bounded.
  const push = Effect.gen(function* () {
    if (state.parsing !== undefined) yield* Fiber.join(state.parsing)
    const { chunks } = state
    state.chunks = []
    state.bytes = 0
    state.parsing = yield* Effect.forkChild(Effect.flatMap(change.run("push", chunks), check(room, limit)), {
      startImmediately: true
    })
  })
  yield* Stream.runForEach(diff, (chunk) => {
    state.chunks.push(ownBytes(chunk))
    state.bytes += chunk.length
    return state.bytes < messageBytes ? Effect.void : push
  })
  if (state.bytes > 0) yield* push
  if (state.parsing !== undefined) yield* Fiber.join(state.parsing)
  return yield* Effect.flatMap(change.run("endDiff"), check(room, limit))
})

interface HandOver {
  /** Chunks that the parser has not received yet. */
  chunks: Array<Uint8Array>
  bytes: number
  /** The parse of the previous chunks. */
  parsing: Fiber.Fiber<number, CheckoutError | PatchTooLarge | AnalysisError> | undefined
}

/** Bytes that can be moved to another thread: a view of a part of a buffer is copied. */
const ownBytes = (chunk: Uint8Array): Uint8Array =>
  chunk.byteLength === chunk.buffer.byteLength ? chunk : Uint8Array.prototype.slice.call(chunk)

const check =
  (room: number, limit: number) =>
  ({ keptBytes, malformed }: DiffProgress): Effect.Effect<number, CheckoutError | PatchTooLarge> => {
    if (malformed !== undefined)
      return Effect.fail(new CheckoutError({ reason: "failed", why: { _tag: "DiffUnreadable", error: malformed } }))
    return keptBytes > room
      ? Effect.fail(new PatchTooLarge({ bytes: limit - room + keptBytes, limit }))
      : Effect.succeed(keptBytes)
  }
