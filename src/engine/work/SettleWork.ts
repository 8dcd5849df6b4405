/** Work on the files at the end of a change: the states of its findings. */
import type { FindingState } from "../../domain/FindingState.ts"
import { toEvidenceFile } from "../../review/EvidenceLines.ts"
import type { EvidenceFile } from "../../review/EvidenceLines.ts"
import { findRenamed, settleFinding } from "../../review/SettleFinding.ts"
import type { UnsettledFinding } from "../../review/SettleFinding.ts"

/** Text of a file; null if there is none, undefined if it cannot be read. */
export type FileText = string | null | undefined

export interface UnsettledFile {
  readonly own: FileText
  /** The same file as the newest review read it. */
  readonly reviewed: FileText
  readonly findings: ReadonlyArray<UnsettledFinding>
}

const toFile = (text: FileText): EvidenceFile | null | undefined =>
  typeof text === "string" ? toEvidenceFile(text) : text

export const settleWork = {
  /**
   * Returns the states of the findings of each file. `others`: files that were added or changed since the newest review, of which one may be
   * the file of a deleted path.
   */
  settleFindings: (
    files: ReadonlyArray<UnsettledFile>,
    others: ReadonlyArray<{ readonly isAdded: boolean; readonly text: string }>
  ): ReadonlyArray<ReadonlyArray<FindingState>> => {
    const read = others.map(({ isAdded, text }) => ({ isAdded, file: toEvidenceFile(text) }))
    const added = read.flatMap(({ file, isAdded }) => (isAdded ? [file] : []))
    const all = read.map(({ file }) => file)
    return files.map(({ findings, own, reviewed }) => {
      const before = toFile(reviewed)
      const renamed = own === null && before ? added[findRenamed(before, added)] : undefined
      const sides = { own: renamed ?? toFile(own), reviewed: before, others: all.filter((file) => file !== renamed) }
      return findings.map((finding) => settleFinding(finding, sides))
    })
  }
}
