/**
 * Skills: instructions for a kind of file, `.aicr/skills/<name>.md` of the base branch. `Applies To` says which changed files make one
 * active, in the frontmatter (`applies_to:`, a list or comma-separated) or on a line of its own (`Applies To: src/**, *.sql`); a skill
 * without it is always active, and so is a forced one. Pure.
 */
import { alternatives, namesOf, pathPattern } from "./PathPattern.ts"

export interface Skill {
  readonly name: string
  readonly text: string
  /** undefined: every change. */
  readonly appliesTo: ReadonlyArray<string> | undefined
}

const maxGlobs = 50
const key = /^\s*(?:\*\*|#+\s*)?applies[ _-]?to(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.*)$/i

export const readSkill = (name: string, document: string): Skill => {
  const front = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(document)
  const text = (front === null ? document : document.slice(front[0].length)).trim()
  const given = globsIn(front?.[1] ?? "") ?? globsIn(text)
  return { name, text, appliesTo: given }
}

/** The value on the key's own line, or the list of `- glob` lines below it. */
const globsIn = (text: string): ReadonlyArray<string> | undefined => {
  const lines = text.split(/\r?\n/)
  const at = lines.findIndex((line) => key.test(line))
  if (at < 0) return undefined
  const inline = key.exec(lines[at] ?? "")?.[1] ?? ""
  const listed: Array<string> = []
  for (const line of lines.slice(at + 1)) {
    const item = /^\s*[-*]\s+(.+)$/.exec(line)?.[1]
    if (item === undefined) break
    listed.push(item)
  }
  const globs = (inline.trim() === "" ? listed : splitOutsideBraces(inline.replace(/^\[|\]$/g, "")))
    .map((glob) => glob.trim().replace(/^[`"']|[`"']$/g, ""))
    .filter((glob) => glob !== "" && glob.length <= 200)
  return globs.slice(0, maxGlobs)
}

/** `*.{ts,js}, a/**` is two globs. */
const splitOutsideBraces = (text: string): ReadonlyArray<string> => text.split(/,(?![^{]*\})/)

/** A glob without a slash means a name in any folder. */
const anywhere = (glob: string): string => (glob.includes("/") ? glob : `**/${glob}`)

export const isActive = (skill: Skill, paths: ReadonlyArray<string>, forced: ReadonlyArray<string>): boolean => {
  if (skill.appliesTo === undefined || forced.includes(skill.name)) return true
  const patterns = skill.appliesTo
    .flatMap((glob) => alternatives(anywhere(glob.replace(/^\.?\//, ""))))
    .map(pathPattern)
  return paths.some((path) => {
    const names = namesOf(path)
    return patterns.some((matches) => matches(names))
  })
}
