/** Returns who changed each of these lines last. */
import { Effect } from "effect"
import { runGit } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { objectName } from "./Objects.ts"
import { localTime } from "./TimeLimit.ts"
import type { BlameLine } from "../Checkout.ts"

/** Parses `git blame --line-porcelain`. Keeps names only and drops e-mail addresses. */
const parseBlame = (porcelain: string): ReadonlyArray<BlameLine> => {
  const lines: Array<BlameLine> = []
  let line = 0
  let commit = ""
  let author = ""
  let time = 0
  for (const row of porcelain.split("\n")) {
    if (row.startsWith("\t")) {
      lines.push({ line, commit, author, time })
      continue
    }
    const head = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row)
    if (head !== null) {
      commit = head[1] ?? ""
      line = Number(head[2])
    } else if (row.startsWith("author ")) author = row.slice(7)
    else if (row.startsWith("author-time ")) time = Number(row.slice(12))
  }
  return lines
}

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
