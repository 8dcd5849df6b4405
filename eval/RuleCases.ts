/**
 * Examples of rules as labelled changes: one adds the code of an example where the base has the rule. A bad example passes if a finding cites
 * the rule, a good one if none does. Pure.
 */
import { expandBraces } from "../src/domain/Braces.ts"
import type { Reason } from "../src/domain/Reason.ts"
import { readProjectRule } from "../src/review/Rules.ts"
import type { ProjectRule } from "../src/review/Rules.ts"
import { activeSkills } from "../src/review/Skills.ts"
import type { EvalCase } from "./EvalCase.ts"
import type { ScoredCase } from "./Score.ts"

/** A rule with its file. */
export interface TestedRule {
  readonly path: string
  readonly document: string
  readonly rule: ProjectRule
}

/** Reads a rule of the file `path`, or returns the reason for which it cannot be used. */
export const readTestedRule = (path: string, document: string): TestedRule | Reason => {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "")
  const rule = readProjectRule(name, document)
  return "_tag" in rule ? rule : { path, document, rule }
}

export interface RuleCase {
  readonly rule: string
  readonly isGood: boolean
  readonly change: EvalCase
}

/** An example whose path is not in the scope of its rule. */
export interface MisplacedExample {
  readonly rule: string
  readonly example: string
  readonly path: string
}

/** Returns the examples as changes, and those that could never be judged. */
export const toRuleCases = (
  rules: ReadonlyArray<TestedRule>
): { readonly cases: ReadonlyArray<RuleCase>; readonly misplaced: ReadonlyArray<MisplacedExample> } => {
  const cases: Array<RuleCase> = []
  const misplaced: Array<MisplacedExample> = []
  for (const { document, path: file, rule } of rules) {
    const counts = { good: 0, bad: 0 }
    for (const example of rule.examples) {
      const kind = example.isGood ? "good" : "bad"
      const name = `${rule.id}/${kind}-${++counts[kind]}`
      const path = example.path ?? samplePath(rule, example.language)
      if (activeSkills([{ name: "", appliesTo: rule.appliesTo }], [path], []).active.length === 0) {
        misplaced.push({ rule: rule.id, example: name, path })
        continue
      }
      const before = new Map([[file, document]])
      cases.push({
        rule: rule.id,
        isGood: example.isGood,
        change: {
          name,
          title: `Add ${path}`,
          description: undefined,
          language: example.language,
          kind: "rule",
          before,
          after: new Map([...before, [path, example.code]]),
          needs: [],
          looksWrong: undefined,
          expected: [],
          tolerated: []
        }
      })
    }
  }
  return { cases, misplaced }
}

/** Returns a path that the first glob of a rule matches, unless it has classes of characters. */
const samplePath = ({ appliesTo }: Pick<ProjectRule, "appliesTo">, language: string): string => {
  const [glob] = appliesTo ?? []
  if (glob === undefined) return `example.${/^\w{1,12}$/.test(language) ? language : "txt"}`
  const [first = glob] = expandBraces(glob.replace(/^\.?\//, ""), 1)
  const path = first
    .split("/")
    .filter((name) => name !== "**")
    .map((name) => name.replaceAll(/\*+/g, "example").replaceAll("?", "x"))
    .join("/")
  return path === "" || first.endsWith("**") ? `${path === "" ? "" : `${path}/`}example.${language || "txt"}` : path
}

export interface RuleResult {
  readonly rule: string
  readonly example: string
  readonly isGood: boolean
  readonly passed: boolean
  /** Reason why the review has no result. */
  readonly failed?: string | undefined
}

export const judgeRuleCase = ({ change, isGood, rule }: RuleCase, scored: ScoredCase): RuleResult => {
  const isCited = scored.wrong.some(({ problem }) => problem.rule === rule)
  return {
    rule,
    example: change.name,
    isGood,
    passed: scored.failed === undefined && isCited !== isGood,
    ...(scored.failed === undefined ? {} : { failed: scored.failed })
  }
}
