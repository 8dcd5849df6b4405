/** Finds the settings that a text of the service names, such as `review.skip_drafts`, among the effective values. Pure. */
import type { Reason } from "../../domain/Reason.ts"

export interface ConfigValue {
  readonly path: string
  readonly origin: Reason
  readonly value: unknown
}

export interface Setting extends ConfigValue {
  /** Name in the text. */
  readonly name: string
  /** True if the name is that of several values, of which this is the first. */
  readonly isGroup: boolean
}

export interface ConfigValues {
  /** Values of the workspace, which may differ from those of the document. */
  readonly own: ReadonlyArray<ConfigValue>
  readonly all: ReadonlyArray<ConfigValue>
}

/** Words of two parts or more. A host or a version is no value of the configuration, and is not found. */
const listNames = (text: string): ReadonlyArray<string> =>
  text
    .split(/[^\w.[\]-]/)
    .map((word) => (word.endsWith(".") ? word.slice(0, -1) : word))
    .filter((word) => word.includes("."))

const maxSettings = 4

const isBelow = (path: string, name: string): boolean =>
  path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)

/** The value of this name, the first one below it, or the one that contains it. */
const find = (name: string, values: ReadonlyArray<ConfigValue>): ConfigValue | undefined =>
  values.find(({ path }) => path === name) ??
  values.find(({ path }) => isBelow(path, name)) ??
  values
    .filter(({ path }) => path.includes(".") && isBelow(name, path))
    .toSorted((a, b) => b.path.length - a.path.length)[0]

export const findSettings = (texts: ReadonlyArray<string>, { all, own }: ConfigValues): ReadonlyArray<Setting> =>
  [...new Set(texts.flatMap((text) => listNames(text)))]
    .flatMap((name): ReadonlyArray<Setting> => {
      const found = find(name, own) ?? find(name, all)
      return found === undefined ? [] : [{ ...found, name, isGroup: found.path !== name && isBelow(found.path, name) }]
    })
    .slice(0, maxSettings)
