/** The diff of a checkout, read as it streams: files that are not reviewed are dropped as they pass, too much of it ends it. */
import { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { parseIgnoreFile } from "../review/IgnoreFile.ts"
import { selectFiles } from "../review/SelectFiles.ts"
import type { SelectedFiles, TriggerFilters } from "../review/SelectFiles.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { parseStream } from "./ParseStream.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import { runInTurns } from "./Turns.ts"

const maxIgnoreBytes = 65_536

export interface ReadChange extends SelectedFiles {
  /** UTF-8 bytes of the patch of the files that are reviewed. */
  readonly bytes: number
  readonly notices: ReadonlyArray<string>
}

export const readChange = Effect.fn("readChange")(function* (
  checkout: Checkout,
  workspace: Workspace,
  filters: TriggerFilters
): Effect.fn.Return<ReadChange, CheckoutError | PatchTooLarge> {
  const { review } = workspace
  const ignoreText = yield* checkout.file(review.ignore_file, "from", maxIgnoreBytes)
  const rules = parseIgnoreFile(ignoreText ?? "")
  const selection = selectFiles({ review, filters, ignores: rules.ignores })
  const { all } = yield* parseStream(checkout.diff, selection.keep, review.max_patch_bytes, review.max_patch_bytes)
  const selected = yield* runInTurns(selection.result(all))
  return {
    ...selected,
    bytes: selected.files.reduce((sum, { bytes }) => sum + bytes, 0),
    notices: [
      ...rules.refused.map((why) => `${review.ignore_file} of the base branch, ${why}: the rule is not used.`),
      ...truncation(selected, review.max_files)
    ]
  }
})

const truncation = ({ skipped }: SelectedFiles, maxFiles: number): ReadonlyArray<string> => {
  const dropped = skipped.filter(({ reason }) => reason === "max_files").length
  return dropped === 0 ? [] : [`${dropped} files are over review.max_files (${maxFiles}) and were not read.`]
}
