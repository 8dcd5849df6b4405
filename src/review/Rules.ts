/**
 * Rules with an identity: `.aicr/rules/<name>.md` of the base branch. A rule is a skill whose front matter also has `id` (default: the name
 * of the file), `severity` (default: medium), `owner` and `floor`. Its sections `Bad` and `Good` hold examples in fenced code, which
 * `aicr rules test` reviews and no prompt has. Pure.
 */
import { createHash } from "node:crypto"
import type { RuleUse } from "../domain/RuleUse.ts"
import type { Reason } from "../domain/Reason.ts"
import { Severity } from "../domain/Kinds.ts"
import { severityRank } from "../domain/Kinds.ts"
import { linesOf, readSkill, splitFront } from "./Skills.ts"
import type { Skill } from "./Skills.ts"

interface RuleExample {
  readonly isGood: boolean
  /** Path after the language of its fence. */
  readonly path: string | undefined
  readonly language: string
  readonly code: string
}

export interface ProjectRule extends Omit<RuleUse, "muted">, Pick<Skill, "appliesTo"> {
  /** The rule itself, without its examples. */
  readonly text: string
  readonly examples: ReadonlyArray<RuleExample>
}

const maxId = 64
const maxOwner = 200
const maxExamples = 20
const idForm = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i

/** Reads a rule, or returns the reason for which it cannot be used. */
export const readProjectRule = (name: string, document: string): ProjectRule | Reason => {
  const { front, text } = splitFront(document)
  const fields = readFields(front)
  const id = fields.get("id") ?? name
  if (id.length > maxId || !idForm.test(id)) return { _tag: "RuleIdInvalid", name: id.slice(0, maxId), limit: maxId }
  const severity = fields.get("severity") ?? "medium"
  if (!isSeverity(severity)) return { _tag: "RuleSeverityInvalid", name: severity.slice(0, maxId) }
  const floor = fields.get("floor")
  const share = Number(floor ?? 0)
  if (!(share >= 0 && share <= 1)) return { _tag: "RuleFloorInvalid", name: (floor ?? "").slice(0, maxId) }
  const parts = splitExamples(text)
  if (parts.text === "") return { _tag: "RuleWithoutText" }
  const owner = fields.get("owner")?.slice(0, maxOwner)
  return {
    id,
    digest: createHash("sha256").update(document).digest("hex").slice(0, 16),
    severity,
    ...(owner === undefined ? {} : { owner }),
    ...(floor === undefined ? {} : { floor: share }),
    appliesTo: readSkill(name, document).appliesTo,
    ...parts
  }
}

const isSeverity = (text: string): text is Severity => Severity.literals.some((severity) => severity === text)

/** Returns the texts of one line in the front matter, by name in lower case; empty ones are absent. */
const readFields = (front: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  for (const line of linesOf(front)) {
    const end = line.indexOf(":")
    if (end <= 0) continue
    const value = line
      .slice(end + 1)
      .trim()
      .replace(/^["'](.*)["']$/, "$1")
      .trim()
    const name = line.slice(0, end).trim().toLowerCase()
    if (value !== "" && !fields.has(name)) fields.set(name, value)
  }
  return fields
}

const heading = /^#{1,6}[ \t]/
const exampleHeading = /^#{1,6}[ \t]+(good|bad)(?:[ \t]+examples?)?:?$/i

/** Separates the sections of examples from the text. */
const splitExamples = (document: string): Pick<ProjectRule, "examples" | "text"> => {
  const kept: Array<string> = []
  const examples: Array<RuleExample> = []
  let isGood: boolean | undefined
  let open: { readonly fence: string; readonly info: ReadonlyArray<string>; readonly lines: Array<string> } | undefined
  for (const line of document.split(/\r?\n/)) {
    const trimmed = line.trim()
    if (open !== undefined) {
      if (trimmed.startsWith(open.fence) && /^[`~]+$/.test(trimmed)) {
        if (isGood === undefined) kept.push(line)
        else if (examples.length < maxExamples) examples.push(toExample(isGood, open))
        open = undefined
      } else if (isGood === undefined) kept.push(line)
      else open.lines.push(line)
      continue
    }
    const fence = /^(?:`{3,20}|~{3,20})/.exec(trimmed)?.[0]
    if (fence !== undefined)
      open = {
        fence,
        info: trimmed
          .slice(fence.length)
          .trim()
          .split(/[ \t]+/, 2),
        lines: []
      }
    else if (heading.test(trimmed)) {
      const kind = exampleHeading.exec(trimmed)?.[1]?.toLowerCase()
      isGood = kind === undefined ? undefined : kind === "good"
    }
    if (isGood === undefined) kept.push(line)
  }
  return { text: kept.join("\n").trim(), examples }
}

const toExample = (
  isGood: boolean,
  {
    info: [language = "", path],
    lines
  }: { readonly info: ReadonlyArray<string>; readonly lines: ReadonlyArray<string> }
): RuleExample => ({ isGood, path, language, code: `${lines.join("\n")}\n` })

/** Characters of one rule and of all rules that reach the model. */
export const maxRuleText = 1_000
const maxRulesText = 48_000

/** Orders rules as the prompt shows them: the most severe first, then by id. */
const inRuleOrder = <A extends Pick<RuleUse, "id" | "severity">>(rules: ReadonlyArray<A>): ReadonlyArray<A> =>
  rules.toSorted((a, b) => severityRank(b.severity) - severityRank(a.severity) || (a.id < b.id ? -1 : 1))

interface ShownRules<A> {
  readonly shown: ReadonlyArray<A>
  /** Number of rules that the limit leaves no room for. */
  readonly left: number
}

/** Returns the rules that have room in a prompt, with their text cut at its limit. */
export const fitRules = <A extends Pick<ProjectRule, "id" | "severity" | "text">>(
  rules: ReadonlyArray<A>
): ShownRules<A> => {
  let room = maxRulesText
  const ordered = inRuleOrder(rules).map((rule) => ({ ...rule, text: rule.text.slice(0, maxRuleText) }))
  const shown = ordered.filter(({ text }) => (room -= text.length) >= 0)
  return { shown, left: rules.length - shown.length }
}

/** Returns what the record of a review has of a rule. */
export const toRuleUse = ({ id, digest, severity, owner, floor }: RuleUse): RuleUse => ({
  id,
  digest,
  severity,
  ...(owner === undefined ? {} : { owner }),
  ...(floor === undefined ? {} : { floor })
})
