/** Reads the rules of a folder, `.aicr/rules/*.md`, for `aicr rules test`; every invalid file is reported before anything is paid for. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { inEnglish } from "../../text/en.ts"
import { readTestedRule } from "../../../eval/RuleCases.ts"
import { refused } from "../Exit.ts"
import { oneLine } from "../Wording.ts"

const ruleFolder = ".aicr/rules"
const maxFiles = 500

/** Reads the rules of the repository at `root`. `only`: those with one of these ids. */
export const readRuleFiles = Effect.fnUntraced(function* (root: string, only: ReadonlyArray<string>) {
  const folder = join(root, ruleFolder)
  const entries = yield* Effect.tryPromise({
    try: () => readdir(folder, { withFileTypes: true }),
    catch: () => refused(`${folder} is not a readable folder; it holds the rules of the repository, NAME.md each`)
  })
  const names = entries.flatMap((entry) => (entry.isFile() && entry.name.endsWith(".md") ? [entry.name] : []))
  if (names.length === 0) return yield* refused(`${folder} holds no rules (*.md)`)
  const read = yield* Effect.forEach(names.toSorted().slice(0, maxFiles), (name) =>
    Effect.tryPromise({
      try: () => readFile(join(folder, name), "utf8"),
      catch: () => refused(`${folder}/${name} cannot be read`)
    }).pipe(Effect.map((document) => ({ name, rule: readTestedRule(`${ruleFolder}/${name}`, document) })))
  )
  const problems = read.flatMap(({ name, rule }) =>
    "_tag" in rule ? [`${ruleFolder}/${name}: ${oneLine(inEnglish(rule))}`] : []
  )
  if (problems.length > 0) return yield* refused(problems.slice(0, 50).join("\n"))
  const rules = read.flatMap(({ rule }) => ("_tag" in rule ? [] : [rule]))
  const unknown = only.filter((id) => !rules.some(({ rule }) => rule.id === id))
  if (unknown.length > 0)
    return yield* refused(
      `${folder} has no rule ${unknown.join(", ")}; it has ${rules.map(({ rule }) => rule.id).join(", ")}`
    )
  return rules.filter(({ rule }) => only.length === 0 || only.includes(rule.id))
})
