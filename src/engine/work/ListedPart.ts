/**
 * A part of the paths of a change on its way to the thread that holds the change: one text and one array of numbers, because a message
 * with an object for each path takes the service's thread ten times as long.
 */
import type { ListedPath } from "../../review/SelectFiles.ts"

type PathKind = Omit<ListedPath, "path">

export interface ListedPart {
  /** Separated by NUL, which no path contains. */
  readonly paths: string
  /** Properties that many paths share. */
  readonly kinds: ReadonlyArray<PathKind>
  /** Position in `kinds` of each path. */
  readonly kindOf: Uint32Array
}

export const packPaths = (listed: ReadonlyArray<ListedPath>): ListedPart => {
  const kinds: Array<PathKind> = []
  const positions = new Map<string, number>()
  const kindOf = new Uint32Array(listed.length)
  for (const [at, { status, oldMode, newMode }] of listed.entries()) {
    const key = `${status} ${oldMode} ${newMode}`
    let position = positions.get(key)
    if (position === undefined) {
      position = kinds.push({ status, oldMode, newMode }) - 1
      positions.set(key, position)
    }
    kindOf[at] = position
  }
  return { paths: listed.map(({ path }) => path).join("\0"), kinds, kindOf }
}

export const unpackPaths = ({ paths, kinds, kindOf }: ListedPart): ReadonlyArray<ListedPath> =>
  kindOf.length === 0
    ? []
    : paths.split("\0").flatMap((path, at) => {
        const kind = kinds[kindOf[at] ?? 0]
        return kind === undefined ? [] : [{ ...kind, path }]
      })
