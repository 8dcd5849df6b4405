/** Searches of a review in its record: what git found for each, by the search itself. */
import { Effect } from "effect"
import type { FoundPaths, RevisionSearch } from "../../vcs/Checkout.ts"

/** A recorded search is found again by its text. */
const keyOf = (search: unknown): string => JSON.stringify(search)

/** Passes searches on and hands over what they found. */
export const watchSearch = (
  { filesWith, filesUnder }: RevisionSearch,
  keep: (key: string, found: FoundPaths) => void
): RevisionSearch => ({
  filesWith: (search, limit) =>
    Effect.tap(filesWith(search, limit), (found) => Effect.sync(() => keep(keyOf(search), found))),
  filesUnder: (folder, limit) =>
    Effect.tap(filesUnder(folder, limit), (found) => Effect.sync(() => keep(keyOf(folder), found)))
})

export const replaySearch = (
  recorded: ReadonlyMap<string, FoundPaths>,
  missing: (name: string) => void
): RevisionSearch => {
  const replay = (search: unknown, name: string) =>
    Effect.sync((): FoundPaths => {
      const key = keyOf(search)
      if (!recorded.has(key)) missing(name)
      return recorded.get(key) ?? { paths: [], more: false }
    })
  return {
    filesWith: (search) => replay(search, `search for ${search.texts.join(", ")}`),
    filesUnder: (folder) => replay(folder, `list of ${folder === "" ? "all files" : folder}`)
  }
}
