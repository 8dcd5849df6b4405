/**
 * Skills: instructions for a kind of file, from folders of the base branch. The changed files that make one active are named in the
 * front matter (`applies_to`, `globs`, `paths` or `applyTo`: a list or comma-separated) or on a line of its own
 * (`Applies To: src/**, *.sql`). A skill that names none is always active, and so is a forced one; one with `alwaysApply: false` and
 * without globs, which its tool lets a model choose, never is. Pure.
 */
import { expandBraces } from "../domain/Braces.ts"
import { compilePaths } from "../domain/PathPatterns.ts"

export interface Skill {
  readonly name: string
  readonly text: string
  /** Undefined for every change. */
  readonly appliesTo: ReadonlyArray<string> | undefined
}

const maxGlobs = 50
const maxGlobLength = 200
const textKey = /^(?:\*\*|#+)?[ \t]*applies[ _-]?to(?:\*\*)?[ \t]*:/i
const frontKey = /^(?:applies[ _-]?to|apply[ _-]?to|globs|paths)[ \t]*:/i
const always = /^always[ _-]?apply[ \t]*:[ \t]*(true|false)$/i

export const readSkill = (name: string, document: string): Skill => {
  const { front, text } = splitFront(document)
  const given = globsIn(front, frontKey) ?? globsIn(text, textKey)
  return { name, text, appliesTo: scopeIn(front, given) }
}

/** Separates the front matter, empty without one, from the text. */
export const splitFront = (document: string): { readonly front: string; readonly text: string } => {
  const front = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(document)
  return { front: front?.[1] ?? "", text: (front === null ? document : document.slice(front[0].length)).trim() }
}

const scopeIn = (front: string, given: Skill["appliesTo"]): Skill["appliesTo"] => {
  for (const line of linesOf(front)) {
    const choice = always.exec(line)?.[1]?.toLowerCase()
    if (choice === "true") return undefined
    if (choice === "false") return given ?? []
  }
  return given
}

export function* linesOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf("\n", at)
    const end = next < 0 ? text.length : next
    yield text.slice(at, end).trim()
    at = end + 1
  }
}

/** The value on the key's own line, or the list of `- glob` lines below it. */
const globsIn = (text: string, key: RegExp): ReadonlyArray<string> | undefined => {
  let inline: string | undefined
  const listed: Array<string> = []
  for (const line of linesOf(text)) {
    if (inline === undefined) {
      if (key.test(line))
        inline = line
          .slice(line.indexOf(":") + 1)
          .replace(/^\*\*/, "")
          .trim()
    } else if (inline === "" && listed.length < maxGlobs && /^[-*]\s/.test(line)) listed.push(line.slice(1))
    else break
  }
  if (inline === undefined) return undefined
  const globs = (inline === "" ? listed : splitOutsideBraces(inline.replace(/^\[|\]$/g, "")))
    .map((glob) => glob.trim().replace(/^[`"']|[`"']$/g, ""))
    .filter((glob) => glob !== "" && glob.length <= maxGlobLength)
  return globs.slice(0, maxGlobs)
}

/** `*.{ts,js}, a/**` is two globs. */
const splitOutsideBraces = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === "{") depth++
    else if (char === "}") depth = Math.max(0, depth - 1)
    else if (char === "," && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}

/** A glob without a slash means a name in any folder. */
const anywhere = (glob: string): string => (glob.includes("/") ? glob : `**/${glob}`)

/** Maximum number of patterns that the braces of all globs of a skill expand to. */
const maxAlternatives = 64
/** Characters of the patterns of one skill and of all: a path is matched in time that grows with them. */
const maxOfSkill = 4_096
const maxCharacters = 65_536

type SkillScope = Pick<Skill, "name" | "appliesTo">

interface ActiveSkills<A> {
  readonly active: ReadonlyArray<A>
  /** Skills that have more patterns than the limit of the matcher. */
  readonly refused: ReadonlyArray<A>
}

/**
 * Returns the skills that one of the paths makes active, in their order. One with too many patterns is refused, and so are the last ones
 * where all together have too many.
 */
export const activeSkills = <A extends SkillScope>(
  skills: ReadonlyArray<A>,
  paths: ReadonlyArray<string>,
  forced: ReadonlyArray<string>
): ActiveSkills<A> => {
  const active: Array<A> = []
  const refused: Array<A> = []
  let room = maxCharacters
  for (const skill of skills) {
    if (skill.appliesTo === undefined || forced.includes(skill.name)) {
      active.push(skill)
      continue
    }
    const patterns = patternsOf(skill.appliesTo)
    const characters = patterns.reduce((sum, pattern) => sum + pattern.length, 0)
    if (characters > Math.min(maxOfSkill, room)) {
      refused.push(skill)
      continue
    }
    room -= characters
    if (matchesAny(patterns, paths)) active.push(skill)
  }
  return { active, refused }
}

const patternsOf = (globs: ReadonlyArray<string>): ReadonlyArray<string> => {
  const patterns: Array<string> = []
  for (const glob of globs) {
    if (patterns.length >= maxAlternatives) break
    patterns.push(...expandBraces(anywhere(glob.replace(/^\.?\//, "")), maxAlternatives - patterns.length))
  }
  return patterns
}

const matchesAny = (patterns: ReadonlyArray<string>, paths: ReadonlyArray<string>): boolean => {
  const compiled = compilePaths(patterns.map((text) => ({ text })))
  for (const path of paths) {
    if (compiled.last(path) >= 0) return true
  }
  return false
}
