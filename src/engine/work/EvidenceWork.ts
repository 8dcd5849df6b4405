/**
 * Results of other tools on the changed lines: shown with the pass of their file, and cited by findings on the same lines. Results about a changed file
 * as a whole that is not read, such as a lock file, are shown with the files of its folder.
 */
import type { SkipReason } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import { showName } from "../../domain/Text.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { pathOfUri, readSarif } from "../../review/Sarif.ts"
import type { ToolResult } from "../../domain/ToolResult.ts"
import type { ReadState } from "./ReadState.ts"

interface Evidence extends Omit<ToolResult, "uri"> {
  readonly path: string
  /** True if it comes from an artifact of CI, false if from a file of the repository. */
  readonly isFromCi: boolean
  /** Folder of its file if the file is not read. */
  readonly folder: string | undefined
}

/** Reasons why a file is not read, and results about it may still matter: its manifest is read. */
const shownUnread: ReadonlySet<SkipReason> = new Set(["excluded", "generated", "max_files", "too_large", "long_lines"])

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

/** Results on changed lines that are kept, and those of one pass that are shown. */
const maxKept = 1000
const maxShown = 40
/** Tools that one finding cites. */
const maxCited = 3

export const makeEvidenceWork = (read: ReadState) => {
  const kept: Array<Evidence> = []

  const isShown = ({ folder, path, start = 1, end = Infinity }: Evidence): boolean =>
    read.selected.files.some(
      (file) =>
        folder === folderOf(file.path) ||
        (file.path === path &&
          file.hunks.some(({ newStart, newLines }) => start < newStart + newLines && end >= newStart))
    )

  const evidenceOn = ({ anchor }: Finding): ReadonlyArray<Evidence> =>
    anchor === undefined || anchor.side === "old"
      ? []
      : kept.filter(
          ({ path, start = Infinity, end = 0 }) =>
            path === anchor.path && start <= anchor.line && end >= (anchor.start ?? anchor.line)
        )

  const cite = (finding: Finding): Finding => {
    const names = new Set(evidenceOn(finding).map(nameOf))
    if (names.size === 0) return finding
    const { problem } = finding
    const cited = [...names].slice(0, maxCited).join(", ")
    return {
      ...finding,
      problem: { ...problem, message: `${problem.message}\n\nThis line was also reported by ${cited}.` }
    }
  }

  const keep = (results: ReadonlyArray<ToolResult>, isFromCi: boolean): number => {
    const { files, skipped } = read.selected
    const paths = new Set(files.map(({ path }) => path))
    const unread = new Set(skipped.filter(({ reason }) => shownUnread.has(reason)).map(({ path }) => path))
    const changed = new Set([...paths, ...unread])
    const before = kept.length
    for (const { uri, ...result } of results) {
      if (kept.length === maxKept) break
      const path = pathOfUri(uri, result.start === undefined ? changed : paths)
      if (path === undefined) continue
      const folder = unread.has(path) ? folderOf(path) : undefined
      const one = { ...result, path, folder, isFromCi, message: scrubSecrets(result.message) }
      if (isShown(one)) kept.push(one)
    }
    return kept.length - before
  }

  return {
    /** Returns the results of a SARIF file without secrets; undefined where it is not SARIF. */
    readResults: (text: string): ReadonlyArray<ToolResult> | undefined =>
      readSarif(text)?.map((result) => ({
        ...result,
        message: scrubSecrets(result.message),
        uri: scrubSecrets(result.uri)
      })),
    /** Keeps results from CI on lines that the change shows. Returns their number. */
    addResults: (results: ReadonlyArray<ToolResult>): number => keep(results, true),
    /** Keeps the results of a SARIF file on lines that the change shows. Returns their number; undefined where it is not SARIF. */
    addEvidence: (text: string): number | undefined => {
      const results = readSarif(text)
      return results === undefined ? undefined : keep(results, false)
    },
    /** Returns lines about results in these files; "" without any. */
    evidenceFor: (paths: ReadonlyArray<string>): string => {
      const wanted = new Set(paths)
      const folders = new Set(paths.map(folderOf))
      return kept
        .filter(({ folder, path }) => wanted.has(path) || (folder !== undefined && folders.has(folder)))
        .slice(0, maxShown)
        .map(
          (one) =>
            `${showName(one.path)}${one.start === undefined ? "" : `:${one.start}`}: ${nameOf(one)}: ${one.message}`
        )
        .join("\n")
    },
    citeEvidence: (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => findings.map(cite)
  }
}

const nameOf = ({ isFromCi, rule, tool }: Evidence): string => {
  const name = rule === "" ? `\`${tool}\`` : `\`${tool}\` rule \`${rule}\``
  return isFromCi ? `${name} in CI` : name
}
