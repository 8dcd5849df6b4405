/** Reads who last changed lines of a file. */
import { Effect } from "effect"
import type { BlameLine, CheckoutError } from "../Checkout.ts"
import type { SvnFile } from "./SvnFiles.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

export const readSvnBlame = Effect.fnUntraced(function* (
  session: SvnSession,
  { revision, url }: SvnFile,
  start: number,
  end: number
): Effect.fn.Return<ReadonlyArray<BlameLine>, CheckoutError> {
  const lines: Array<BlameLine> = []
  let found = { author: "", commit: "", time: 0 }
  yield* readSvnXml(session, ["blame", "-r", `1:${revision}`, pegged(url, revision)], ({ attributes, name, text }) => {
    if (name === "author") found = { ...found, author: text }
    if (name === "date") found = { ...found, time: Math.floor(Date.parse(text) / 1000) || 0 }
    if (name === "commit") found = { ...found, commit: attributes["revision"] ?? "" }
    if (name !== "entry") return false
    const line = Number(attributes["line-number"])
    if (line >= start && line <= end) lines.push({ line, ...found })
    found = { author: "", commit: "", time: 0 }
    return line >= end
  }).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.succeed(false)
    )
  )
  return lines
})
