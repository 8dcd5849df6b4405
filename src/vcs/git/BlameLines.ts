/** Returns who changed each of these lines last. */
import { Effect } from "effect"
import { parseBlame } from "./Blame.ts"
import { runGit } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { objectName } from "./Objects.ts"
import { localTime } from "./TimeLimit.ts"

export const blame = Effect.fnUntraced(function* (
  mirror: Mirror,
  head: string,
  path: string,
  start: number,
  end: number
) {
  if (objectName(head, path) === undefined || !(start >= 1 && end >= start)) return []
  const { stdout } = yield* runGit(
    inMirror(mirror, ["blame", "--line-porcelain", "-L", `${start},${end}`, head, "--", path]),
    { time: localTime("blame"), maxBytes: 8_388_608 }
  ).pipe(
    Effect.catchIf(
      (error) => error.reason === "missing",
      () => Effect.succeed({ stdout: Buffer.alloc(0) })
    )
  )
  return parseBlame(stdout.toString("utf8"))
})
