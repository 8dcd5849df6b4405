/** Parses `git blame --line-porcelain`. Keeps names only and drops e-mail addresses. */
import type { BlameLine } from "../Checkout.ts"

export const parseBlame = (porcelain: string): ReadonlyArray<BlameLine> => {
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
