/**
 * Makes the text of a reason from the texts of a language. A text may contain
 * - `{name}`: a parameter; a nested reason is rendered, a list is joined, of reasons with `{name,}` like items;
 * - `{name:group}`: the text of a value, such as a status: key `group.value` of the texts of pages;
 * - `{name|one|many}`: one of two words, by a number; they may hold `{name}`;
 * - `{=review.exclude}`: a field of the configuration, whose name may have parameters: `{=llm.budget.{cap}}`, or be them: `{={fields}}`;
 * - `[[ since {name}]]`: nothing if the parameter is absent.
 */
import { Predicate } from "effect"
import type { Reason, ReasonTag } from "../domain/Reason.ts"
import type { checkReasons } from "../domain/reasons/Check.ts"
import type { configurationReasons } from "../domain/reasons/Configuration.ts"
import type { personReasons } from "../domain/reasons/Person.ts"
import type { pagedTexts } from "./en/Paged.ts"
import type { pageTexts } from "./en/Pages.ts"

type CommonKey = keyof typeof pageTexts
/** Keys whose texts the dashboard loads with the pages that show them. */
export type PagedKey = keyof typeof pagedTexts

/** A language without one of these keys does not compile. */
export type PageKey = CommonKey | PagedKey

interface TextsOf<Reasons, Keys extends string> {
  readonly reasons: Reasons
  /** Texts of pages and of values by key. */
  readonly keys: Readonly<Record<Keys, string>>
  /** Separators of the items of a list, and of reasons. */
  readonly separators: readonly [items: string, reasons: string]
}

export type LanguageTexts = TextsOf<Readonly<Record<ReasonTag, string>>, PageKey>

/** Reasons whose texts the dashboard loads with the pages that show them. */
type PagedTag = keyof typeof checkReasons | keyof typeof configurationReasons | keyof typeof personReasons

/** Texts of a language apart from those that the dashboard loads with their pages. */
export type CommonTexts = TextsOf<Readonly<Record<Exclude<ReasonTag, PagedTag>, string>>, CommonKey>

/** Texts of which some may not be loaded. */
export type LoadedTexts = TextsOf<Readonly<Partial<Record<ReasonTag, string>>>, CommonKey>

const slot = /\{(\w+)(?::(\w+))?(,)?\}/g
const field = /\{=((?:[^{}]|\{\w+\})+)\}/g
const choice = /\{(\w+)\|([^|]*)\|((?:[^{}]|\{\w+\})*)\}/g

/** Reasons nest; what is deeper is of a damaged record. */
const maxDepth = 8

/** Returns the text of a value of the API, such as a status, or the value itself if there is none. */
export const valueText = (texts: Pick<LoadedTexts, "keys">, group: string, value: string): string =>
  findText(texts, `${group}.${value}`) ?? value.replaceAll("_", " ")

/** Returns the text of a key that may not exist. */
export const findText = ({ keys }: Pick<LoadedTexts, "keys">, key: string): string | undefined => {
  const found: Readonly<Record<string, string>> = keys
  return Object.hasOwn(found, key) ? found[key] : undefined
}

/** Returns the fields of the configuration that the text of a reason names, those of its nested reasons included. */
export const listFields = (texts: LoadedTexts, reason: Reason): ReadonlyArray<string> => {
  const names: Array<string> = []
  renderAt(texts, reason, 0, (name) => names.push(name))
  return names
}

export const render = (texts: LoadedTexts, reason: Reason): string => renderAt(texts, reason, 0, () => {})

const renderAt = (texts: LoadedTexts, reason: Reason, depth: number, onField: (name: string) => void): string => {
  const template: string | undefined = Object.hasOwn(texts.reasons, reason._tag)
    ? texts.reasons[reason._tag]
    : undefined
  if (template === undefined || depth > maxDepth) return reason._tag
  const values: Readonly<Record<string, unknown>> = { ...reason }
  const show = (value: unknown, areItems = false): string => {
    if (Array.isArray(value))
      return value.map((item) => show(item)).join(texts.separators[areItems || value.every(Predicate.isString) ? 0 : 1])
    return isNested(value) ? renderAt(texts, value, depth + 1, onField) : String(value)
  }
  /** Its parameters are replaced with those of the text. */
  const readField = (name: string): string => {
    const listed = values[name.slice(1, -1)]
    if (Array.isArray(listed)) listed.map((item) => show(item)).forEach(onField)
    else onField(name.replaceAll(slot, (_, param: string) => show(values[param])))
    return name
  }
  const fill = (text: string): string =>
    text
      .replaceAll(field, (_, name: string) => readField(name))
      .replaceAll(choice, (_, name: string, one: string, many: string) => (values[name] === 1 ? one : many))
      .replaceAll(slot, (_, name: string, group?: string, comma?: string) =>
        group === undefined ? show(values[name], comma !== undefined) : valueText(texts, group, show(values[name]))
      )
  const isPresent = (text: string): boolean =>
    [...text.matchAll(slot)].every(([, name = ""]) => Predicate.isNotNullish(values[name]))
  const [start = "", ...rest] = template.split("[[")
  const parts = rest.map((part) => {
    const [section = "", after = ""] = part.split("]]")
    return isPresent(section) ? section + after : after
  })
  return fill(start + parts.join(""))
}

const isNested = (value: unknown): value is Reason =>
  Predicate.hasProperty(value, "_tag") && Predicate.isString(value._tag)
