/**
 * Decides which settings of a repository apply (domain/RepositorySettings.ts): those that its workspace permits, within the bounds of the
 * workspace. A value that is not usable changes nothing, and is named. Pure.
 *
 * | setting                  | bound                                                        |
 * |--------------------------|--------------------------------------------------------------|
 * | `review.exclude`         | adds patterns; protected paths are reviewed all the same     |
 * | `review.max_problems`    | at most that of the workspace                                |
 * | `review.min_severity`    | at least that of the workspace                               |
 * | `review.output_language` | a language tag                                               |
 */
import { Predicate } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { Severity, severityRank } from "../domain/Kinds.ts"
import type { Reason } from "../domain/Reason.ts"
import { settingNames, Walkthrough } from "../domain/RepositorySettings.ts"
import type { RepositorySettings, SettingName } from "../domain/RepositorySettings.ts"
import { parseIgnoreFile } from "./IgnoreFile.ts"

type Bounds = Pick<Workspace["review"], "max_problems" | "min_severity">
type Value = Pick<RepositorySettings, "exclude"> & { readonly review?: RepositorySettings["review"] }

const maxPatterns = 200
/** Names of settings that are listed, and their length. */
const maxNames = 10
const maxName = 64
const languageTag = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/

const readExclude = (value: unknown): Reason | Value => {
  if (!Array.isArray(value) || value.length > maxPatterns || !value.every((one) => typeof one === "string"))
    return { _tag: "SettingNotTexts", limit: maxPatterns }
  const patterns: ReadonlyArray<string> = value
  if (patterns.some((pattern) => pattern.trim() === "" || /^[!#]|[\r\n]/.test(pattern)))
    return { _tag: "SettingNotPattern" }
  const [refused] = parseIgnoreFile(patterns.join("\n")).refused
  return refused?.reason ?? { exclude: patterns }
}

const readNumber = (value: unknown, { max_problems: bound }: Bounds): Reason | Value => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) return { _tag: "SettingNotNumber" }
  return value > bound ? { _tag: "SettingBeyondBound", bound: String(bound) } : { review: { max_problems: value } }
}

const readSeverity = (value: unknown, { min_severity: bound }: Bounds): Reason | Value => {
  const severity = Severity.literals.find((name) => name === value)
  if (severity === undefined) return { _tag: "SettingNotAmong", names: Severity.literals }
  return severityRank(severity) < severityRank(bound)
    ? { _tag: "SettingBeyondBound", bound }
    : { review: { min_severity: severity } }
}

const readWalkthrough = (value: unknown): Reason | Value => {
  const form = Walkthrough.literals.find((name) => name === value)
  return form === undefined
    ? { _tag: "SettingNotAmong", names: Walkthrough.literals }
    : { review: { walkthrough: form } }
}

/** The language is part of the prompt, so that nothing but a tag may be in it. */
const readLanguage = (value: unknown): Reason | Value =>
  typeof value === "string" && languageTag.test(value)
    ? { review: { output_language: value } }
    : { _tag: "SettingNotLanguage" }

const readers: Readonly<Record<SettingName, (value: unknown, bounds: Bounds) => Reason | Value>> = {
  "review.exclude": readExclude,
  "review.max_problems": readNumber,
  "review.min_severity": readSeverity,
  "review.output_language": readLanguage,
  "review.skip_lgtm": (value) =>
    typeof value === "boolean" ? { review: { skip_lgtm: value } } : { _tag: "SettingNotFlag" },
  "review.walkthrough": readWalkthrough
}

/** Returns the settings of a file by name; undefined if it has another form. */
const listValues = (tree: unknown): ReadonlyMap<string, unknown> | undefined => {
  if (tree === null) return new Map()
  if (!Predicate.isReadonlyObject(tree)) return undefined
  const entries = Object.entries(tree).flatMap(([group, fields]) =>
    Predicate.isReadonlyObject(fields)
      ? Object.entries(fields).map(([name, value]) => [`${group}.${name}`, value] as const)
      : [[group, fields] as const]
  )
  return new Map(entries)
}

interface JudgedSettings {
  readonly settings: RepositorySettings
  readonly notices: ReadonlyArray<Reason>
}

/** Settings of a branch without a usable file, with the problem of the file. */
export const withoutSettings = (found: boolean, problem?: Reason): JudgedSettings => ({
  settings: { found, applied: [], notAllowed: [], review: {} },
  notices: problem === undefined ? [] : [problem]
})

/** Judges the content of a file, as plain data. */
export const judgeSettings = (tree: unknown, allowed: ReadonlyArray<SettingName>, bounds: Bounds): JudgedSettings => {
  const values = listValues(tree)
  if (values === undefined) return withoutSettings(true, { _tag: "SettingsNotFields" })
  const applied: Array<SettingName> = []
  const notAllowed: Array<string> = []
  const notices: Array<Reason> = []
  let value: Value = {}
  for (const [name, given] of values) {
    const setting = settingNames.find((one) => one === name)
    if (setting === undefined || !allowed.includes(setting)) {
      if (notAllowed.length < maxNames) notAllowed.push(name.slice(0, maxName))
      continue
    }
    const read = readers[setting](given, bounds)
    if ("_tag" in read) notices.push({ _tag: "SettingUnused", name, reason: read })
    else {
      applied.push(setting)
      value = { ...value, ...read, review: { ...value.review, ...read.review } }
    }
  }
  if (notAllowed.length > 0) notices.push({ _tag: "SettingsNotAllowed", names: notAllowed })
  return { settings: { found: true, applied, notAllowed, review: {}, ...value }, notices }
}
