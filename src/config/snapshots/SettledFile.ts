/**
 * Reads a file that another process may be writing. It is read when its size and modification time have been stable for a moment, and a
 * reading that would be refused is repeated after another moment, so that a partially written document is not judged.
 */
import { Effect } from "effect"
import { stat } from "node:fs/promises"

/** Time between two checks that must see the same file. */
const quiet = "50 millis"
/** Time before a refusal is final. */
const grace = "250 millis"
const maxChecks = 100

const stamp = (file: string): Effect.Effect<string> =>
  Effect.tryPromise(() => stat(file)).pipe(
    Effect.map(({ ino, mtimeMs, size }) => `${ino} ${size} ${mtimeMs}`),
    Effect.orElseSucceed(() => "unreadable")
  )

/** Returns the file's stamp when it is stable, at the latest after about five seconds. */
const settled = Effect.fnUntraced(function* (file: string, pause: typeof quiet | typeof grace) {
  let before = yield* stamp(file)
  for (let looks = 0; looks < maxChecks; looks++) {
    yield* Effect.sleep(pause)
    const now = yield* stamp(file)
    if (now === before) return now
    before = now
  }
  return before
})

/** Returns the result of `read` for the stable file; `isFinal` is false for errors that a partially written file may cause. */
export const readSettled = Effect.fnUntraced(function* <A>(
  file: string,
  read: Effect.Effect<A>,
  isFinal: (result: A) => boolean
) {
  let before = yield* settled(file, quiet)
  for (let attempts = 0; ; attempts++) {
    const result = yield* read
    const after = yield* isFinal(result) ? stamp(file) : settled(file, grace)
    if (after === before || attempts >= maxChecks) return result
    before = yield* settled(file, quiet)
  }
})
