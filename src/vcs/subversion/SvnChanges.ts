/** Lists the changed files of a branch between two revisions. */
import { Effect } from "effect"
import type { ChangedPath, CheckoutError } from "../Checkout.ts"
import { changedFile, tooManyPaths } from "../server/SourceCheckout.ts"
import type { SvnTree } from "./SvnListing.ts"
import { readSvnXml } from "./SvnProcess.ts"
import { toPropertiesPath } from "./SvnProperties.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pathBelow, pegged } from "./SvnUrl.ts"

/** Fails with `limit` if there are more. Without `from` every file is added. */
export const readChanges = Effect.fnUntraced(function* (
  session: SvnSession,
  { from, head }: { readonly head: SvnTree; readonly from: SvnTree | undefined },
  maxPaths: number
): Effect.fn.Return<ReadonlyArray<ChangedPath>, CheckoutError> {
  const found: Array<ChangedPath> = []
  /** Name of the entry that is being read. */
  let last = ""
  const add = (path: string, status: ChangedPath["status"]): boolean => found.push(changedFile(path, status)) > maxPaths
  const stopped =
    from === undefined
      ? yield* readSvnXml(session, ["list", "-R", "-r", head.revision, pegged(head.url, head.revision)], (element) => {
          const { name, text, within } = element
          if (name === "entry") return element.attributes["kind"] === "file" && add(last, "added")
          if (name === "name" && within.at(-1) === "entry") last = text
          return false
        })
      : yield* readSvnXml(
          session,
          ["diff", "--summarize", "--old", pegged(from.url, from.revision), "--new", pegged(head.url, head.revision)],
          ({ attributes, name, text }) => {
            const path = name === "path" ? (pathBelow(head.url, text) ?? pathBelow(from.url, text)) : undefined
            if (path === undefined) return false
            const { item, kind, props } = attributes
            const hasProperties = props === "modified" || (props !== undefined && props !== "none" && item === "none")
            const over = kind === "file" && isStatus(item) && path !== "" && add(path, item)
            return (
              over ||
              (hasProperties && item !== "added" && item !== "deleted" && add(toPropertiesPath(path), "modified"))
            )
          }
        )
  if (stopped) return yield* tooManyPaths(maxPaths)
  return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
})
const isStatus = (item: string | undefined): item is ChangedPath["status"] =>
  item === "added" || item === "deleted" || item === "modified"
