/** The diff of a checkout, read as it streams: files that are not reviewed are dropped as they pass, too much of it ends it. */
import { Effect, Stream } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { DiffFormatError, makeDiffParser } from "../review/ParseDiff.ts"
import { parseIgnoreFile } from "../review/IgnoreFile.ts"
import { selectFiles } from "../review/SelectFiles.ts"
import type { SelectedFiles, TriggerFilters } from "../review/SelectFiles.ts"
import { CheckoutError } from "../vcs/Checkout.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import { PatchTooLarge } from "./PatchTooLarge.ts"

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
  const parser = makeDiffParser(selection.keep)
  const decoder = new TextDecoder()
  yield* Stream.runForEach(checkout.diff, (chunk) =>
    Effect.andThen(
      parse(() => parser.push(decoder.decode(chunk, { stream: true }))),
      Effect.suspend(() =>
        parser.keptBytes > review.max_patch_bytes ? tooLarge(parser.keptBytes, review) : Effect.void
      )
    )
  )
  const files = yield* parse(() => {
    parser.push(decoder.decode())
    return parser.end()
  })
  if (parser.keptBytes > review.max_patch_bytes) return yield* tooLarge(parser.keptBytes, review)
  const selected = selection.result(files)
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

const tooLarge = (bytes: number, review: { readonly max_patch_bytes: number }) =>
  Effect.fail(
    new PatchTooLarge({
      bytes,
      limit: review.max_patch_bytes,
      message: `the patch to analyse is over review.max_patch_bytes (${review.max_patch_bytes}); exclude generated paths with review.exclude or raise the limit`
    })
  )

const parse = <A>(run: () => A): Effect.Effect<A, CheckoutError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (cause) {
      if (!(cause instanceof DiffFormatError)) return Effect.die(cause)
      return Effect.fail(
        new CheckoutError({ reason: "failed", message: `the diff could not be read: ${cause.message}` })
      )
    }
  })
