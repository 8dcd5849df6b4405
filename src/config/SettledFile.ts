/**
 * Reading a file that somebody may be writing. It is read when its size and time of change have been the same for a moment, and a
 * reading that would be refused is made once more after another moment, so that a half-written document is not judged.
 */
import { Effect } from "effect"
import { stat } from "node:fs/promises"

/** Two looks this far apart must see the same file. */
const quiet = "50 millis"
/** Before a refusal is final. */
const grace = "250 millis"
const maxLooks = 100

const stamp = (file: string): Effect.Effect<string> =>
  Effect.tryPromise(() => stat(file)).pipe(
    Effect.map(({ ino, mtimeMs, size }) => `${ino} ${size} ${mtimeMs}`),
    Effect.orElseSucceed(() => "unreadable")
  )

/** The file's stamp once it does not change; after about five seconds whatever it is. */
const settled = Effect.fnUntraced(function* (file: string, pause: typeof quiet | typeof grace) {
  let before = yield* stamp(file)
  for (let looks = 0; looks < maxLooks; looks++) {
    yield* Effect.sleep(pause)
    const now = yield* stamp(file)
    if (now === before) return now
    before = now
  }
  return before
})

/** What `read` makes of the file at rest; `isFinal` is false for what a half-written file may be the reason of. */
export const readSettled = Effect.fnUntraced(function* <A>(
  file: string,
  read: Effect.Effect<A>,
  isFinal: (result: A) => boolean
) {
  let before = yield* settled(file, quiet)
  for (let attempts = 0; ; attempts++) {
    const result = yield* read
    const after = yield* isFinal(result) ? stamp(file) : settled(file, grace)
    if (after === before || attempts >= maxLooks) return result
    before = yield* settled(file, quiet)
  }
})
