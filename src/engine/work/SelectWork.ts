/** Work on the paths of a change before anything of a file is read: which of them are compared. */
import type { ReviewConfig } from "../../config/schema/Review.ts"
import { generatedAttribute } from "../../review/Attributes.ts"
import { parseIgnoreFile } from "../../review/IgnoreFile.ts"
import { isProtectedPath } from "../../review/ProtectedPaths.ts"
import { selectFiles } from "../../review/SelectFiles.ts"
import type { TriggerFilters } from "../../review/SelectFiles.ts"
import { unpackPaths } from "./ListedPart.ts"
import type { ListedPart } from "./ListedPart.ts"
import type { IndexedPath, ReadState } from "./ReadState.ts"

interface SelectInput {
  readonly review: Pick<
    ReviewConfig,
    "include" | "exclude" | "max_files" | "max_file_bytes" | "ignore_file" | "ignore_file_scope"
  >
  readonly filters: TriggerFilters
  /** Ignore file of the base branch, like the attributes; empty where the file does not exist. */
  readonly ignoreText: string
  /** Valid patterns of the settings of the repository (review/RepositorySettings.ts), and the name of the setting. */
  readonly settings: { readonly name: string; readonly exclude: ReadonlyArray<string> }
  readonly attributes: string
}

export const makeSelectWork = ({ comparison, rules }: ReadState) => ({
  select: ({ review, filters, ignoreText, settings, attributes }: SelectInput): void => {
    const ignored = parseIgnoreFile(ignoreText)
    const chosen = parseIgnoreFile(settings.exclude.join("\n"))
    rules.refusedRules = ignored.refused
    const { ignore_file, ignore_file_scope: scope } = review
    const ignoredBy = (path: string): string | undefined => {
      const rule = ignored.ignoredBy(path)
      if (rule === undefined)
        return chosen.ignoredBy(path) !== undefined && !isProtectedPath(path) ? settings.name : undefined
      if (scope === "all" || (scope === "unprotected" && !isProtectedPath(path))) return `${ignore_file}, ${rule}`
      rules.overruled.add(path)
      return undefined
    }
    rules.selection = selectFiles({ review, filters, ignoredBy, attribute: generatedAttribute(attributes) })
  },
  /** Some of the paths that differ, in the order of a diff; `first` begins another comparison. */
  list: (part: ListedPart, first: boolean): void => {
    if (first) comparison.listed = []
    for (const { path, status, oldMode, newMode } of unpackPaths(part)) {
      comparison.listed.push({ path, status, oldMode, newMode, index: comparison.listed.length })
    }
  },
  /** Positions of the candidates among the listed paths. */
  candidates: (): Int32Array => {
    comparison.candidates = rules.selection?.candidates(comparison.listed) ?? []
    return listPositions(comparison.candidates)
  },
  /** Positions of the paths to compare among the listed ones; `sizes` are those of the candidates. */
  choose: (sizes: Float64Array): { readonly paths: Int32Array; readonly exactRenames: boolean } => {
    if (rules.selection === undefined) return { paths: new Int32Array(), exactRenames: false }
    const { paths, exactRenames } = rules.selection.choose(comparison.candidates, Array.from(sizes))
    return { paths: listPositions(paths), exactRenames }
  }
})

/** Positions among the listed paths. */
export const listPositions = (paths: ReadonlyArray<IndexedPath>): Int32Array =>
  Int32Array.from(paths, ({ index }) => index)
