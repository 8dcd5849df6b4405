/**
 * The ignore file of the repository (`.aicrignore`), in the syntax of `.gitignore`: comments, `!` negates a rule, a
 * leading or inner slash anchors at the root, a trailing slash means a directory; the last rule that matches decides.
 * Pure.
 */
import { compilePaths } from "../domain/PathPatterns.ts"
import type { PathPattern } from "../domain/PathPatterns.ts"

const maxRules = 1000
const maxLength = 256
/** Characters of all rules: a path is matched in time that grows with them. */
const maxCharacters = 32_768
/** The file is not the operator's. */
const maxWildcards = 8

export interface IgnoreRules {
  /** The rule that ignores a path, with its line: `line 2: docs/`. Undefined: the path is not ignored. */
  readonly ignoredBy: (path: string) => string | undefined
  /** Lines that are not used, with the reason, for the notices of the review. */
  readonly refused: ReadonlyArray<string>
}

interface Rule {
  readonly negated: boolean
  readonly pattern: PathPattern
}

export const parseIgnoreFile = (text: string): IgnoreRules => {
  const rules: Array<Rule & { readonly text: string }> = []
  const refused: Array<string> = []
  let characters = 0
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = withoutTrailingBlanks(raw)
    if (line === "" || line.startsWith("#")) continue
    const why = refusal(line, rules.length, characters + line.length)
    if (why !== undefined) refused.push(`line ${index + 1}: ${why}`)
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

const refusal = (line: string, rules: number, characters: number): string | undefined => {
  if (rules >= maxRules) return `more than ${maxRules} rules`
  if (line.length > maxLength) return `longer than ${maxLength} characters`
  if (characters > maxCharacters) return `more than ${maxCharacters} characters of rules`
  const wildcards = line.match(/\*+|\?|\[/g)?.length ?? 0
  return wildcards > maxWildcards ? `more than ${maxWildcards} wildcards` : undefined
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
