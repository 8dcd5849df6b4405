/**
 * The ignore file of the base branch (`.aicrignore`), in the syntax of `.gitignore`: comments, `!` takes back, a leading or
 * inner slash anchors at the root, a trailing slash means a directory; the last rule that matches decides. Pure.
 */
import type { PathMatch } from "./Globs.ts"
import { namesOf, pathPattern } from "./PathPattern.ts"
import type { Names } from "./PathPattern.ts"

const maxRules = 1000
const maxLength = 256
/** The file is not the operator's. */
const maxWildcards = 8

export interface IgnoreRules {
  readonly ignores: PathMatch
  /** Lines that are not used, with the reason, for the notices of the review. */
  readonly refused: ReadonlyArray<string>
}

export const parseIgnoreFile = (text: string): IgnoreRules => {
  const rules: Array<{ readonly negated: boolean; readonly matches: (path: Names) => boolean }> = []
  const refused: Array<string> = []
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.replace(/(?<!\\)\s+$/, "")
    if (line === "" || line.startsWith("#")) return
    const why = refusal(line, rules.length)
    if (why !== undefined) refused.push(`line ${index + 1}: ${why}`)
    else rules.push(readRule(line))
  })
  return {
    ignores: (path) => {
      const names = namesOf(path)
      for (let i = rules.length - 1; i >= 0; i--) {
        const rule = rules[i]
        if (rule?.matches(names)) return !rule.negated
      }
      return false
    },
    refused: refused.slice(0, 20)
  }
}

const refusal = (line: string, rules: number): string | undefined => {
  if (rules >= maxRules) return `more than ${maxRules} rules`
  if (line.length > maxLength) return `longer than ${maxLength} characters`
  const wildcards = line.match(/\*+|\?|\[/g)?.length ?? 0
  return wildcards > maxWildcards ? `more than ${maxWildcards} wildcards` : undefined
}

const readRule = (line: string) => {
  const negated = line.startsWith("!")
  const body = (negated ? line.slice(1) : line).replace(/^\\(?=[#!])/, "")
  const folderOnly = body.endsWith("/")
  const name = body.replace(/\/+$/, "")
  const anchored = name.includes("/")
  const literal = name.replace(/^\/+/, "")
  const pattern = anchored ? literal : `**/${literal}`
  const patterns = (folderOnly ? [`${pattern}/**/*`] : [pattern, `${pattern}/**/*`]).map(pathPattern)
  return { negated, matches: (path: Names) => patterns.some((matches) => matches(path)) }
}
