/**
 * Uses lessons of earlier reviews in later ones: hints for the reviewer, as data like the change itself. A hint
 * suppresses nothing. Pure.
 */
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import { memoryDefaults } from "../config/schema/Review.ts"
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { Lesson } from "../domain/Lesson.ts"
import type { Finding } from "../domain/Problem.ts"
import { squeeze } from "./CodeText.ts"
import { injectionIn } from "./Injection.ts"

/**
 * Modes of the use of lessons.
 *
 * | mode     | hints                                                      | verification                          |
 * |----------|------------------------------------------------------------|---------------------------------------|
 * | off      |                                                            |                                       |
 * | light    | up to 10: notes of people, then dismissals in folders that the change touches |                    |
 * | thorough | up to 40, resolved ones and those of other folders as well | also of findings like a dismissed one |
 */
type ReflectionMode = "off" | "light" | "thorough"

export const reflectionMode = ({ enabled, mode }: ReviewConfig["reflection"]): ReflectionMode =>
  enabled ? (mode ?? "light") : "off"

const dayMillis = 86_400_000

/** Default limits of the memory. */
export const lessonBounds = ({ memory }: ReviewConfig["reflection"]) => ({
  maxEntries: memory.max_entries ?? memoryDefaults.max_entries,
  maxBytes: (memory.max_size_kb ?? memoryDefaults.max_size_kb) * 1024,
  keepMillis: memory.retention_days * dayMillis
})

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

/** Lines for the prompt, the nearest lessons first, then the newest. */
export const selectHints = (
  lessons: ReadonlyArray<Lesson>,
  paths: ReadonlyArray<string>,
  mode: ReflectionMode
): ReadonlyArray<string> => {
  if (mode === "off") return []
  const files = new Set(paths)
  const folders = new Set(paths.map(folderOf))
  const distance = ({ path, verdict }: Lesson): number => {
    if (verdict === "remembered") return -1
    return files.has(path) ? 0 : folders.has(folderOf(path)) ? 1 : 2
  }
  const near = lessons
    .filter((lesson) => mode === "thorough" || (lesson.verdict !== "resolved" && distance(lesson) < 2))
    .toSorted((a, b) => distance(a) - distance(b) || b.learnedAt - a.learnedAt)
  const hints: Array<string> = []
  for (const lesson of near) {
    const hint = hintOf(lesson)
    // Text that addresses the reviewer is not a description of a finding.
    if (!injectionIn(hint)) hints.push(hint)
    if (hints.length === maxHints[mode]) break
  }
  return hints
}

const maxHints = { light: 10, thorough: 40 } as const

const oneLine = (text: string, most: number): string => {
  const line = text.replace(/[\p{Cc}\s\u2028\u2029]+/gu, " ").trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

/** Describes a finding in one line. */
export const describeFinding = ({
  category,
  path,
  severity,
  title
}: Pick<Lesson, "category" | "path" | "severity" | "title">): string =>
  `${oneLine(category, 40)} (${severity}) in ${oneLine(path, 200)}: ${oneLine(title, 160)}.`

const hintOf = ({ verdict, category, severity, path, title, quote }: Lesson): string => {
  if (verdict === "remembered") return `- a maintainer noted for reviews of this repository: ${oneLine(title, 300)}`
  const what = verdict === "dismissed" ? "dismissed by a person" : "taken up and repaired"
  const code = quote.trim() === "" ? "" : ` The code was: ${oneLine(quote, 160)}`
  return `- ${what}: ${describeFinding({ category, path, severity, title })}${code}`
}

/** Whether a similar finding was dismissed: the same kind of problem about the same code, in any file. */
export const likeDismissed = (lessons: ReadonlyArray<Lesson>): ((finding: Finding) => boolean) => {
  const dismissed = lessons.filter(({ verdict, quote }) => verdict === "dismissed" && quote.trim() !== "")
  const known = new Set(dismissed.map(({ category, quote }) => key(category, quote)))
  return ({ problem }) => problem.quote !== undefined && known.has(key(problem.category, problem.quote))
}

const key = (category: string, quote: string): string => JSON.stringify([canonicalCategory(category), squeeze(quote)])
