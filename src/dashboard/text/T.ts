/** Texts of the dashboard in the selected language. A key without a text in every language does not compile. */
import type { Reason, ReasonTag } from "../../domain/Reason.ts"
import { findText, listFields, render, valueText } from "../../text/Render.ts"
import type { LoadedTexts, PagedKey, PageKey } from "../../text/Render.ts"
import { common as en } from "../../text/en/Common.ts"

export type Key = PageKey
export type Language = "en" | "zh-CN"
export const languages: ReadonlyArray<Language> = ["en", "zh-CN"]

/** Chinese is that of English until it is loaded. */
const tables: Record<Language, LoadedTexts> = { en, "zh-CN": en }
const storageKey = "aicr.language"

const initial = (): Language => {
  const stored = localStorage.getItem(storageKey)
  const preferred = stored ?? navigator.languages.find((name) => /^(?:en|zh)\b/i.test(name)) ?? "en"
  return /^zh/i.test(preferred) ? "zh-CN" : "en"
}

let language = initial()
document.documentElement.lang = language
const listeners = new Set<() => void>()

export const currentLanguage = (): Language => language
export const onLanguageChange = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const changeLanguage = async (next: Language): Promise<void> => {
  await loadLanguage(next)
  language = next
  localStorage.setItem(storageKey, next)
  document.documentElement.lang = next
  for (const listener of listeners) listener()
}

/** Returns a text; `{name}` is replaced by the value of that name. */
export const t = (key: Key, values?: Readonly<Record<string, string | number>>): string => {
  const text = findText(tables[language], key) ?? key
  return values === undefined
    ? text
    : text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}

/** Returns the text of a value of the API, such as a status, or the value itself if there is none. */
export const tValue = (group: string, value: string): string => valueText(tables[language], group, value)

/** Returns the text of a reason in the selected language. */
export const tReason = (reason: Reason): string => render(tables[language], reason)

/** Returns the fields of the configuration that reasons name. */
export const namedFields = (reasons: ReadonlyArray<Reason>): ReadonlyArray<string> =>
  reasons.flatMap((reason) => listFields(tables[language], reason))

/** Adds texts of reasons that only some pages show. */
export const addReasonTexts = (
  added: Readonly<Record<Language, Readonly<Partial<Record<ReasonTag, string>>>>>
): void => {
  for (const name of languages) tables[name] = { ...tables[name], reasons: { ...tables[name].reasons, ...added[name] } }
}

/** Adds texts of pages whose texts are loaded with them. */
export const addPageTexts = (added: Readonly<Record<Language, Readonly<Record<PagedKey, string>>>>): void => {
  for (const name of languages) tables[name] = { ...tables[name], keys: { ...tables[name].keys, ...added[name] } }
}

/** Loads the texts of a language: before the first page is drawn, and before it is selected. */
export const loadLanguage = async (name: Language): Promise<void> => {
  if (name === "en") return
  const { common } = await import("../../text/zh/Common.ts")
  const { keys, reasons } = tables[name]
  tables[name] = { ...common, reasons: { ...reasons, ...common.reasons }, keys: { ...keys, ...common.keys } }
}

/** Returns the explanation of a value, if there is one. */
export const tMaybe = (group: string, value: string | undefined): string | undefined =>
  findText(tables[language], `${group}.${value ?? ""}`)
