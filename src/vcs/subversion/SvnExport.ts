/** Exports a branch into a folder, within a limit of bytes. */
import { Effect, Option } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { measureBytes } from "../git/MirrorUse.ts"
import type { SvnTree } from "./SvnListing.ts"
import { contentMillis, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

const lookEvery = "250 millis"

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
  ).pipe(Effect.as(Option.none<number>()))
  const growing = Effect.gen(function* () {
    while (true) {
      yield* Effect.sleep(lookEvery)
      const bytes = yield* io("export", () => measureBytes(folder))
      if (bytes > maxBytes) return Option.some(bytes)
    }
  })
  const over = yield* Effect.raceFirst(exporting, growing)
  const bytes = Option.getOrElse(over, () => 0) || (yield* io("export", () => measureBytes(folder)))
  if (bytes > maxBytes) return yield* tooLargeTree(bytes, maxBytes)
})

export const tooLargeTree = (bytes: number, maxBytes: number) =>
  new CheckoutError({
    reason: "limit",
    message: `its files are larger than ${Math.floor(maxBytes / 1_048_576)} MiB (over ${Math.floor(bytes / 1_048_576)} MiB were fetched)`
  })
