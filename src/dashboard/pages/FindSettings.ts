/** Finds fields that reasons name, such as `review.skip_drafts`, among the effective values of the configuration. Pure. */
import type { Reason } from "../../domain/Reason.ts"

export interface ConfigValue {
  readonly path: string
  readonly origin: Reason
  readonly value: unknown
}

export interface Setting extends ConfigValue {
  /** Name in the reason. */
  readonly name: string
  /** True if the name is that of several values, of which this is the first. */
  readonly isGroup: boolean
}

interface ConfigValues {
  /** Values of the workspace, which may differ from those of the document. */
  readonly own: ReadonlyArray<ConfigValue>
  readonly all: ReadonlyArray<ConfigValue>
}

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

export const findSettings = (names: ReadonlyArray<string>, { all, own }: ConfigValues): ReadonlyArray<Setting> =>
  [...new Set(names)]
    .flatMap((name): ReadonlyArray<Setting> => {
      const found = find(name, own) ?? find(name, all)
      return found === undefined ? [] : [{ ...found, name, isGroup: found.path !== name && isBelow(found.path, name) }]
    })
    .slice(0, maxSettings)
