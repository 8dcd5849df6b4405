/** Work on the commits of a change that are shown one by one, the newest first. */
import { keepLineage } from "../../review/CommitPatches.ts"
import type { CommitLabel } from "../../review/CommitLabel.ts"
import { beginParsing } from "./ReadWork.ts"
import type { ReadState } from "./ReadState.ts"
import { listPositions } from "./SelectWork.ts"

export const makeCommitWork = (state: ReadState) => {
  const { comparison } = state
  return {
    beginCommits: (maxDeleted: number): void => {
      state.commits = { lineage: keepLineage(state.carried.files, maxDeleted), label: undefined, patches: [] }
    },
    /** Positions among the listed paths of those that belong to the change. */
    commitCandidates: (): Int32Array => {
      comparison.candidates = state.commits?.lineage.candidates(comparison.listed) ?? []
      return listPositions(comparison.candidates)
    },
    beginCommit: (label: CommitLabel): void => {
      const { commits } = state
      if (commits !== undefined) commits.label = label
      beginParsing(comparison, (file) => commits?.lineage.belongs(file) ?? false)
    },
    endCommit: (): void => {
      const { label: commit, patches } = state.commits ?? {}
      if (commit === undefined) return
      const { files, kept } = comparison
      patches?.push(
        files.flatMap((file) => (kept.has(file.path) && file.hunks.length > 0 ? [{ ...file, commit }] : []))
      )
    }
  }
}
