/**
 * The ignore file of the repository (`.aicrignore`), in the syntax of `.gitignore`: comments, `!` negates a rule, a
 * leading or inner slash anchors at the root, a trailing slash means a directory; the last rule that matches decides.
 * Pure.
 */
import { compilePaths } from "../domain/PathPatterns.ts"
import type { PathPattern } from "../domain/PathPatterns.ts"
import type { Reason } from "../domain/Reason.ts"

const maxRules = 1000
const maxLength = 256
/** Characters of all rules: a path is matched in time that grows with them. */
const maxCharacters = 32_768
/** The file is not the operator's. */
const maxWildcards = 8

interface IgnoreRules {
  /** The rule that ignores a path, with its line: `line 2: docs/`. Undefined: the path is not ignored. */
  readonly ignoredBy: (path: string) => string | undefined
  /** Lines that are not used. */
  readonly refused: ReadonlyArray<RefusedRule>
}

export interface RefusedRule {
  readonly line: number
  readonly reason: Reason
}

interface Rule {
  readonly negated: boolean
  readonly pattern: PathPattern
}

export const parseIgnoreFile = (text: string): IgnoreRules => {
  const rules: Array<Rule & { readonly text: string }> = []
  const refused: Array<RefusedRule> = []
  let characters = 0
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = withoutTrailingBlanks(raw)
    if (line === "" || line.startsWith("#")) continue
    const reason = refusal(line, rules.length, characters + line.length)
    if (reason !== undefined) refused.push({ line: index + 1, reason })
    else {
      rules.push({ ...readRule(line), text: `line ${index + 1}: ${line}` })
      characters += line.length
    }
  }
  const patterns = compilePaths(rules.map(({ pattern }) => pattern))
  return {
    ignoredBy: (path) => {
      const rule = rules[patterns.last(path)]
      return rule?.negated === false ? rule.text : undefined
    },
    refused: refused.slice(0, 20)
  }
}

/** A blank behind a backslash is part of the pattern. */
const withoutTrailingBlanks = (line: string): string => {
  const trimmed = line.trimEnd()
  return trimmed.endsWith("\\") && trimmed.length < line.length ? line.slice(0, trimmed.length + 1) : trimmed
}

const refusal = (line: string, rules: number, characters: number): Reason | undefined => {
  if (rules >= maxRules) return { _tag: "RulesOverLimit", limit: maxRules }
  if (line.length > maxLength) return { _tag: "RuleTooLong", limit: maxLength }
  if (characters > maxCharacters) return { _tag: "RulesTooLong", limit: maxCharacters }
  const wildcards = line.match(/\*+|\?|\[/g)?.length ?? 0
  return wildcards > maxWildcards ? { _tag: "WildcardsOverLimit", limit: maxWildcards } : undefined
}

const readRule = (line: string): Rule => {
  const negated = line.startsWith("!")
  const body = (negated ? line.slice(1) : line).replace(/^\\(?=[#!])/, "")
  let end = body.length
  while (end > 0 && body[end - 1] === "/") end--
  const name = body.slice(0, end)
  const literal = name.replace(/^\/+/, "")
  return {
    negated,
    pattern: {
      text: name.includes("/") ? literal : `**/${literal}`,
      reach: end < body.length ? "within" : "both"
    }
  }
}
