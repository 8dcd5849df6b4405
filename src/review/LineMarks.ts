/**
 * The lines of a patch without their text: a keyed digest of each, by which a later review recognises lines that an earlier one read. Without
 * the key a line with the digest of another one cannot be written. Pure.
 */
import { hash } from "node:crypto"
import type { ReadLines } from "../domain/Round.ts"
import type { FileDiff } from "./FileDiff.ts"

const markLength = 4

/** Returns the digest of each line of the hunks, in order. The mark of the diff counts, white space too. */
export const markLines = (file: FileDiff, key: string): ReadonlyArray<string> =>
  file.hunks.flatMap(({ lines }) =>
    lines.map((line) => hash("sha256", `${key}\n${line}`, "base64url").slice(0, markLength))
  )

/** Returns the digests that are stored of a file. */
export const storedMarks = ({ marks }: Pick<ReadLines, "marks">): ReadonlyArray<string> =>
  Array.from({ length: Math.floor(marks.length / markLength) }, (_, at) =>
    marks.slice(at * markLength, (at + 1) * markLength)
  )

/** Returns for each stored line the first round that read it, or 0. */
export const storedRounds = ({ rounds }: Pick<ReadLines, "rounds">): ReadonlyArray<number> =>
  rounds.flatMap(([round, count]) => Array.from({ length: count }, () => round))

/** Returns what is stored of a file. `rounds`: the first round that read each line, or 0. */
export const toReadLines = (path: string, marks: ReadonlyArray<string>, rounds: ReadonlyArray<number>): ReadLines => {
  const runs: Array<[round: number, count: number]> = []
  for (const round of rounds) {
    const last = runs.at(-1)
    if (last?.[0] === round) last[1]++
    else runs.push([round, 1])
  }
  return { path, marks: marks.join(""), rounds: runs }
}
