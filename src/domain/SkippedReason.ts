/** Names the settings that exclude every file of a change from its review. Pure. */
import type { Analysis } from "./Analysis.ts"
import { countReviewed } from "./Coverage.ts"
import type { SkippedFile, SkipReason } from "./Coverage.ts"
import type { Reason } from "./Reason.ts"

/** Settings that exclude files, by reason. For `excluded` the file names its own. */
const settings: Partial<Record<SkipReason, string>> = {
  not_watched: "triggers[].watch_path",
  ignored: "review.ignore_file"
}

const settingOf = ({ reason, rule }: SkippedFile): string | undefined =>
  reason === "excluded" ? rule : settings[reason]

/** Returns why no file was read, if filters of the configuration or of the repository exclude all of them. */
export const skippedReason = ({ coverage, skipped }: Pick<Analysis, "coverage" | "skipped">): Reason | undefined => {
  if (skipped === undefined || countReviewed(coverage) > 0) return undefined
  const names = new Set(coverage.skipped.flatMap((file) => settingOf(file) ?? []))
  return names.size === 0 ? undefined : { _tag: "FilesExcluded", fields: [...names] }
}
