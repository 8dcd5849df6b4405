/** References of changed names, which are found once and shown with the files that define the names. */
import { showName } from "../../domain/Text.ts"
import type { NameUse } from "../syntax/Definition.ts"
import type { ReadState } from "./ReadState.ts"

/** Use of a name whose definition the change alters. */
export interface CodeReference {
  readonly name: string
  readonly change: "changed" | "removed"
  /** Path of the definition, as the change names it. */
  readonly definedIn: string
  readonly kind: NameUse["kind"]
}

export interface NamedPlace {
  readonly path: string
  readonly line: number
  /** Has no secrets. */
  readonly text: string
  readonly reference: CodeReference
}

/** Maximum number of references that are shown together, and of those of one name while others have some as well. */
const maxShown = 20
const maxOfName = 6
const maxText = 200

export const makeReferenceWork = (read: ReadState) => {
  let places: ReadonlyArray<NamedPlace> = []

  const shownFor = (paths: ReadonlyArray<string>): ReadonlyArray<NamedPlace> => {
    const wanted = new Set(paths)
    const own = places.filter(({ reference }) => wanted.has(reference.definedIn)).toSorted(callsFirst)
    const counts = new Map<string, number>()
    const [first, later] = [[] as Array<NamedPlace>, [] as Array<NamedPlace>]
    for (const place of own) {
      const { name } = place.reference
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      ;(count <= maxOfName ? first : later).push(place)
    }
    return [...first, ...later].slice(0, maxShown)
  }

  return {
    addReferences: (found: ReadonlyArray<NamedPlace>): void => {
      places = found
    },
    /** Returns the lines of each file at the head that no hunk shows. */
    outsideOfHunks: (
      files: ReadonlyArray<{ readonly path: string; readonly lines: ReadonlyArray<number> }>
    ): ReadonlyArray<ReadonlyArray<number>> =>
      files.map(({ path, lines }) => {
        const hunks = read.selected.files.filter((file) => file.path === path).flatMap((file) => file.hunks)
        return lines.filter(
          (line) => !hunks.some(({ newStart, newLines }) => line >= newStart && line < newStart + newLines)
        )
      }),
    /**
     * Returns the references of names that these files define, with the name and its file on lines of their own; "" without any. For a blind reading
     * without the code, which may have comments.
     */
    referencesFor: (paths: ReadonlyArray<string>, isBlind: boolean): string => {
      const byName = Map.groupBy(shownFor(paths), ({ reference }) =>
        JSON.stringify([reference.definedIn, reference.name])
      )
      return [...byName.values()]
        .flatMap((group) => {
          const [first] = group
          if (first === undefined) return []
          const { change, definedIn, name } = first.reference
          return [
            `${name}, ${change} in ${showName(definedIn)}:`,
            ...group.map(
              ({ path, line, text, reference }) =>
                `  ${showName(path)}:${line} (${reference.kind})${isBlind ? "" : ` ${text.slice(0, maxText)}`}`
            )
          ]
        })
        .join("\n")
    }
  }
}

const callsFirst = (a: NamedPlace, b: NamedPlace): number =>
  Number(a.reference.kind !== "call") - Number(b.reference.kind !== "call")
