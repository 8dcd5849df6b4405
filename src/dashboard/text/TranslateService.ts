/** Finds the text of a table that a text of the service is, by its fixed parts. Pure, and linear in the length of the text, of which strangers write parts. */

interface Template {
  /** Fixed parts around the values, in order: one more than values. */
  readonly parts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly text: string
}

/** A value in a text. `entities: {}` has none. */
const valuePattern = /\{(\w+(?::\w+)?)\}/g

const compile = ([english, text]: readonly [string, string]): Template => {
  const all = english.split(valuePattern)
  return { parts: all.filter((_, index) => index % 2 === 0), names: all.filter((_, index) => index % 2 === 1), text }
}

/** Returns the values of a text if its fixed parts are those of the template. */
const match = ({ parts }: Template, text: string): ReadonlyArray<string> | undefined => {
  const [first = ""] = parts
  if (parts.length === 1) return text === first ? [] : undefined
  const last = parts.at(-1) ?? ""
  const end = text.length - last.length
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return undefined
  const values: Array<string> = []
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const next = text.indexOf(part, at)
    if (next === -1 || next + part.length > end) return undefined
    values.push(text.slice(at, next))
    at = next + part.length
  }
  return [...values, text.slice(at, end)]
}

/** Longer texts are not searched, and keep what they are. */
const maxCharacters = 4000
/** Values in values, such as the reason of a reason. */
const maxDepth = 4

export type Translate = (text: string) => string

/** `valueOf` returns the text of a value of a group, such as a status. */
export const makeTranslate = (
  rows: ReadonlyArray<readonly [string, string]>,
  valueOf: (group: string, value: string) => string
): Translate => {
  const exact = new Map(rows)
  const length = ({ parts }: Template) => parts.reduce((sum, part) => sum + part.length, 0)
  // Of two templates the one with more fixed text is the more exact one.
  const templates = rows
    .map(compile)
    .filter(({ names }) => names.length > 0)
    .toSorted((one, other) => length(other) - length(one))
  const find = (text: string, depth: number): string | undefined => {
    const known = exact.get(text)
    if (known !== undefined || depth > maxDepth || text.length > maxCharacters) return known
    for (const template of templates) {
      const values = match(template, text)
      if (values !== undefined) return fill(template, values, depth)
    }
    return undefined
  }
  const fill = ({ names, text }: Template, values: ReadonlyArray<string>, depth: number): string => {
    const byName = new Map(names.map((name, index) => [name, values[index] ?? ""]))
    return text.replaceAll(valuePattern, (_, name: string) => {
      const value = byName.get(name) ?? ""
      const [, group] = name.split(":")
      return group === undefined ? translate(value, depth + 1) : valueOf(group, value)
    })
  }
  /** Several reasons are joined by semicolons. */
  const translate = (text: string, depth: number): string => {
    const found = find(text, depth)
    if (found !== undefined || !text.includes("; ") || depth > maxDepth || text.length > maxCharacters)
      return found ?? text
    const parts = text.split("; ")
    const translated = parts.map((part) => find(part, depth + 1))
    return translated.every((part) => part === undefined)
      ? text
      : translated.map((part, index) => part ?? parts[index]).join("；")
  }
  return (text) => translate(text, 0)
}
