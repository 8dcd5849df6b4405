/** Transfers lists that grow with a change between threads in parts, so that no transfer blocks the main thread. */
import { Effect } from "effect"
import type { ChangedPath } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import { packPaths } from "../work/ListedPart.ts"

/** Paths per part. The transfer of a part takes less than a millisecond. */
const listedLength = 1_000
/** Objects per part. */
const partLength = 500

export const listPaths = Effect.fnUntraced(function* (change: ChangeThread, listed: ReadonlyArray<ChangedPath>) {
  for (let at = 0; at === 0 || at < listed.length; at += listedLength) {
    yield* change.run("list", packPaths(listed.slice(at, at + listedLength)), at === 0)
  }
})

export const inParts = Effect.fnUntraced(function* <A>(
  part: (from: number, count: number) => Effect.Effect<ReadonlyArray<A>, AnalysisError>
): Effect.fn.Return<ReadonlyArray<A>, AnalysisError> {
  const all: Array<A> = []
  for (;;) {
    const some = yield* part(all.length, partLength)
    all.push(...some)
    if (some.length < partLength) return all
  }
})

/** The paths at these positions. */
export const pathsAt = (listed: ReadonlyArray<ChangedPath>, positions: Int32Array): ReadonlyArray<ChangedPath> =>
  Array.from(positions).flatMap((at) => listed[at] ?? [])
