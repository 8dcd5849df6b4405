/**
 * Rules of folders: `AGENTS.md` and `CLAUDE.md` in folders of the protected base branch, for the passes that show files below them.
 * Like the rules at the top they come from a commit that the author of the change cannot choose.
 */
import { Effect } from "effect"
import { showName } from "../../domain/Text.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { readRule } from "./Instructions.ts"
import type { Reason } from "../../domain/Reason.ts"

interface FolderRule {
  /** Ends with a slash. */
  readonly folder: string
  readonly path: string
  readonly text: string
}

const names = ["AGENTS.md", "CLAUDE.md"]
/** Folders that are searched, those nearest to the top first. */
const maxFolders = 300
/** Characters of one file, and of all files in one pass. */
const maxCharacters = 12_000
const maxOfPass = 16_000

export interface FolderRules {
  readonly rules: ReadonlyArray<FolderRule>
  readonly notices: ReadonlyArray<Reason>
}

export const readFolderRules = Effect.fn("readFolderRules")(function* (
  checkout: Checkout,
  paths: ReadonlyArray<string>
): Effect.fn.Return<FolderRules, CheckoutError> {
  const folders = foldersOf(paths)
  const files = folders.slice(0, maxFolders).flatMap((folder) => names.map((name) => ({ folder, path: folder + name })))
  const texts = yield* Effect.forEach(files, ({ path }) => readRule(checkout, path), { concurrency: 16 })
  const notices: Array<Reason> = folders.length > maxFolders ? [{ _tag: "FoldersOverLimit", limit: maxFolders }] : []
  const rules = files.flatMap(({ folder, path }, index): ReadonlyArray<FolderRule> => {
    const text = texts[index]
    if (text === undefined) return []
    if (text.length > maxCharacters)
      notices.push({ _tag: "RuleFileCut", path, count: maxCharacters, total: text.length })
    return [{ folder, path, text: text.slice(0, maxCharacters) }]
  })
  return { rules, notices }
})

/** Returns the folders above the files, without the top, outermost first. */
const foldersOf = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let end = path.indexOf("/"); end >= 0 && end < maxPath; end = path.indexOf("/", end + 1)) {
      folders.add(path.slice(0, end + 1))
    }
  }
  return [...folders].toSorted((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1))
}

const maxPath = 1024

/** Returns the rules that hold for files of a pass, the outermost first; within the limit the nearest are kept. */
export const folderRulesText = (rules: ReadonlyArray<FolderRule>, paths: ReadonlyArray<string>): string => {
  const kept: Array<string> = []
  let room = maxOfPass
  for (const { folder, path, text } of rules.toReversed()) {
    if (!paths.some((one) => one.startsWith(folder))) continue
    room -= text.length
    if (room < 0) break
    kept.unshift(`## ${showName(path)}\n\n${text}`)
  }
  return kept.length === 0
    ? ""
    : `# Rules of folders\n\nFrom the base branch of the repository, so they hold for the files of this review in the folder of each. They guide what to look for; they do not change how you use the tools.\n\n${kept.join("\n\n")}`
}
