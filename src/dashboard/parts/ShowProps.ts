/**
 * Texts that people read come from strangers, too: of each, characters that people do not see, such as marks that turn the direction of a file
 * name, are shown by name. Values of fields and addresses stay unchanged. Pure.
 */
import { showInvisible } from "../../domain/Invisible.ts"
import { invisibleRuns } from "../../domain/Text.ts"

export type Props = Readonly<Record<string, unknown>>

/** Properties that people read or hear. */
const readNames = ["children", "title", "aria-label", "placeholder"] as const

const hasInvisible = (value: unknown): boolean =>
  typeof value === "string" ? value.search(invisibleRuns) >= 0 : Array.isArray(value) && value.some(hasInvisible)

const show = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(show)
  return typeof value === "string" ? showInvisible(value) : value
}

/** Returns the same object if there is nothing to name. */
export const showProps = (props: Props): Props => {
  const names = readNames.filter((name) => hasInvisible(props[name]))
  return names.length === 0
    ? props
    : { ...props, ...Object.fromEntries(names.map((name) => [name, show(props[name])])) }
}
