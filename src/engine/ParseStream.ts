/** A diff parsed as it streams; too much of it ends it. */
import { Effect, Stream } from "effect"
import type { FileDiff, FileHeader } from "../review/FileDiff.ts"
import { DiffFormatError, makeDiffParser } from "../review/ParseDiff.ts"
import { CheckoutError } from "../vcs/Checkout.ts"
import { PatchTooLarge } from "./PatchTooLarge.ts"

export interface ParsedStream {
  /** With those that `keep` refused, which have no hunks. */
  readonly all: ReadonlyArray<FileDiff>
  readonly files: ReadonlyArray<FileDiff>
  /** Patch bytes of the kept files. */
  readonly bytes: number
}

/** Fails when kept files have more than `room` bytes; `limit` is the setting that the room is what is left of. */
export const parseStream = Effect.fnUntraced(function* (
  diff: Stream.Stream<Uint8Array, CheckoutError>,
  keep: (file: FileHeader) => boolean,
  room: number,
  limit: number
): Effect.fn.Return<ParsedStream, CheckoutError | PatchTooLarge> {
  const kept = new Set<string>()
  const parser = makeDiffParser((file) => {
    if (!keep(file)) return false
    kept.add(file.path)
    return true
  })
  const bounded = Effect.suspend(() =>
    parser.keptBytes > room ? tooLarge(limit - room + parser.keptBytes, limit) : Effect.void
  )
  yield* Stream.runForEach(diff, (chunk) =>
    parse(() => parser.push(chunk)).pipe(
      Effect.andThen(bounded),
      // A source that has many chunks at hand would keep everybody else waiting.
      Effect.andThen(Effect.yieldNow)
    )
  )
  const all = yield* parse(() => parser.end())
  yield* bounded
  return { all, files: all.filter(({ path }) => kept.has(path)), bytes: parser.keptBytes }
})

const tooLarge = (bytes: number, limit: number) =>
  Effect.fail(
    new PatchTooLarge({
      bytes,
      limit,
      message: `the patch to analyse is over review.max_patch_bytes (${limit}); exclude generated paths with review.exclude or raise the limit`
    })
  )

const parse = <A>(run: () => A): Effect.Effect<A, CheckoutError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (cause) {
      if (!(cause instanceof DiffFormatError)) return Effect.die(cause)
      return Effect.fail(
        new CheckoutError({ reason: "failed", message: `the diff could not be read: ${cause.message}` })
      )
    }
  })
