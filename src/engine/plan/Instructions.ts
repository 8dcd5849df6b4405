/**
 * The project's own rules for its review: AGENTS.md, CLAUDE.md, REVIEW.md and `.aicr/*.md`, from the tip of the protected base branch, else of
 * the default branch. The versions of these files in the change and in the commit it starts from are data like the rest of it.
 */
import { Effect } from "effect"
import type { InstructionFiles } from "../../domain/Coverage.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface Instructions {
  readonly rules: ReadonlyArray<{ readonly path: string; readonly text: string }>
  readonly notices: ReadonlyArray<Reason>
  /** Sources that exist. */
  readonly sources: ReadonlyArray<InstructionFiles>
}

const folder = ".aicr"
const topFiles = ["AGENTS.md", "CLAUDE.md", "REVIEW.md"] as const
const maxFiles = 30
const maxRuleBytes = 1_048_576
/** Characters of one file and of all of them that reach the model. */
const maxCharacters = 24_000
const maxTotal = 64_000

export const readInstructions = Effect.fn("readInstructions")(function* (
  checkout: Checkout
): Effect.fn.Return<Instructions, CheckoutError> {
  const listed = yield* checkout.list(folder, "rules", 1000)
  const own = listed.filter((name) => /\.(md|mdc|txt)$/i.test(name)).toSorted()
  const paths = [...topFiles, ...own.slice(0, maxFiles).map((name) => `${folder}/${name}`)]
  const notices: Array<Reason> = own.length > maxFiles ? [{ _tag: "RuleFilesOverLimit", folder, limit: maxFiles }] : []
  const rules: Array<{ path: string; text: string }> = []
  let total = 0
  const texts = yield* Effect.forEach(paths, (path) => readRule(checkout, path), { concurrency: 8 })
  for (const [index, path] of paths.entries()) {
    const text = texts[index]
    if (text === undefined) continue
    const room = Math.min(maxCharacters, maxTotal - total)
    if (text.length > room) notices.push({ _tag: "RuleFileCut", path, count: room, total: text.length })
    if (room <= 0) continue
    rules.push({ path, text: text.slice(0, room) })
    total += Math.min(text.length, room)
  }
  const sources = ([...topFiles, folder] as const).map((source): InstructionFiles => {
    const isOf = (path: string): boolean => path === source || (source === folder && path.startsWith(`${folder}/`))
    return {
      source,
      found: paths.filter((path, index) => isOf(path) && texts[index] !== undefined).length,
      applied: rules.filter(({ path }) => isOf(path)).length
    }
  })
  return { rules, notices, sources: sources.filter(({ found }) => found > 0) }
})

/** Returns the text of a file with rules; undefined where it holds none: one word is how a link to another file reads. */
export const readRule = (checkout: Checkout, path: string): Effect.Effect<string | undefined, CheckoutError> =>
  Effect.map(checkout.file(path, "rules", maxRuleBytes), (content) => {
    const text = content?.trim() ?? ""
    return /\s/.test(text) ? text : undefined
  })
