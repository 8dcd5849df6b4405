/** A diff parsed as it streams; too much of it ends it. */
import { Effect, Stream } from "effect"
import type { FileDiff, FileHeader } from "../review/FileDiff.ts"
import { DiffFormatError, makeDiffParser } from "../review/ParseDiff.ts"
import { filterInSteps } from "../review/Steps.ts"
import type { Steps } from "../review/Steps.ts"
import { CheckoutError } from "../vcs/Checkout.ts"
import { PatchTooLarge } from "./PatchTooLarge.ts"
import { runInTurns } from "./Turns.ts"

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
    Effect.andThen(
      parse(() => parser.push(chunk)),
      bounded
    )
  )
  const all = yield* parse(function* () {
    yield
    return parser.end()
  })
  yield* bounded
  const files = yield* runInTurns(filterInSteps(all, ({ path }) => kept.has(path)))
  return { all, files, bytes: parser.keptBytes }
})

const tooLarge = (bytes: number, limit: number) =>
  Effect.fail(
    new PatchTooLarge({
      bytes,
      limit,
      message: `the patch to analyse is over review.max_patch_bytes (${limit}); exclude generated paths with review.exclude or raise the limit`
    })
  )

const parse = <A>(work: () => Steps<A>): Effect.Effect<A, CheckoutError> =>
  Effect.flatten(Effect.suspend(() => runInTurns(read(work()))))

function* read<A>(work: Steps<A>): Steps<Effect.Effect<A, CheckoutError>> {
  try {
    return Effect.succeed(yield* work)
  } catch (cause) {
    if (!(cause instanceof DiffFormatError)) throw cause
    return Effect.fail(new CheckoutError({ reason: "failed", message: `the diff could not be read: ${cause.message}` }))
  }
}
