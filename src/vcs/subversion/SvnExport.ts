/** Exports a branch into a folder, within a limit of bytes. */
import { Effect, Option } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { measureBytes } from "../git/MirrorUse.ts"
import { runWithinGrowth } from "../server/GrowthLimit.ts"
import type { SvnTree } from "./SvnListing.ts"
import { contentMillis, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

/** Ends the export when its files are larger than the limit. */
export const exportSvn = Effect.fnUntraced(function* (
  session: SvnSession,
  info: SvnTree,
  folder: string,
  maxBytes: number
) {
  const exporting = runSvn(
    session,
    [
      ..."export --quiet --force --ignore-externals --ignore-keywords -r".split(" "),
      info.revision,
      pegged(info.url, info.revision),
      folder
    ],
    65_536,
    contentMillis
  )
  const over = yield* runWithinGrowth(exporting, folder, maxBytes)
  const bytes = Option.getOrElse(over, () => 0) || (yield* io("export", () => measureBytes(folder)))
  if (bytes > maxBytes) return yield* tooLargeTree(bytes, maxBytes)
})

const tooLargeTree = (bytes: number, maxBytes: number) =>
  new CheckoutError({
    reason: "limit",
    why: {
      _tag: "FilesOverSize",
      limit: Math.floor(maxBytes / 1_048_576),
      size: Math.floor(bytes / 1_048_576)
    }
  })
