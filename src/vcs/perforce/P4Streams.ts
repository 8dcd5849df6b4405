/** Finds the branch of a depot file: its stream, or the configured path that contains it, whichever is longer; else its depot. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { DescribeRequest } from "../SubmittedChanges.ts"
import { cleanRoot } from "./P4Path.ts"
import { readP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"

/** Number of folders below the depot in the name of a stream, by depot. */
type StreamDepots = ReadonlyMap<string, number>

export const readStreamDepots = Effect.fnUntraced(function* (
  session: P4Session,
  files: ReadonlyArray<string>
): Effect.fn.Return<StreamDepots, CheckoutError> {
  const touched = new Set(files.map((file) => file.split("/")[2] ?? ""))
  const names: Array<string> = []
  yield* readP4(
    session,
    { args: ["depots", "-t", "stream"] },
    { record: ({ name }) => void (name !== undefined && touched.has(name) && names.push(name)) }
  )
  const found = new Map<string, number>()
  for (const name of names) {
    yield* readP4(
      session,
      { args: ["depot", "-o", name] },
      { record: ({ StreamDepth }) => void found.set(name, toDepth(StreamDepth)) }
    )
  }
  return found
})

/** `//Ace/1`, `1`, or absent. */
const toDepth = (text: string | undefined): number => {
  const number = Number((text ?? "1").split("/").at(-1))
  return number >= 1 && number <= 10 ? number : 1
}

const isBelow = (root: string, file: string, fold: boolean): boolean => {
  const start = file.slice(0, root.length + 1)
  return fold ? start.toLowerCase() === `${root}/`.toLowerCase() : start === `${root}/`
}

/** Returns undefined for a file that is not below `under`. */
export const findBranch = (
  file: string,
  { roots, under }: Pick<DescribeRequest, "roots" | "under">,
  streams: StreamDepots,
  fold: boolean
): string | undefined => {
  const parts = file.split("/")
  const depot = parts[2] ?? ""
  const depth = streams.get(depot)
  const stream = depth !== undefined && parts.length > 3 + depth ? parts.slice(0, 3 + depth).join("/") : undefined
  const own = roots
    .map(cleanRoot)
    .filter((root) => isBelow(root, file, fold))
    .toSorted((a, b) => b.length - a.length)[0]
  if (under !== undefined && !isBelow(cleanRoot(under), file, fold)) return undefined
  const shortest = own ?? `//${depot}`
  return stream !== undefined && stream.length > shortest.length ? stream : shortest
}
