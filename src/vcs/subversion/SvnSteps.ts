/** Lists the revisions of a range that changed a branch, for reviews of each of them. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { maxSteps, toTitle } from "../server/Steps.ts"
import type { StepName } from "../server/Steps.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

/** Returns them oldest first; undefined if there are too many or the range has no start. */
export const readSteps = Effect.fnUntraced(function* (
  session: SvnSession,
  url: string,
  head: string,
  start: string
): Effect.fn.Return<ReadonlyArray<StepName> | undefined, CheckoutError> {
  if (start === "0") return undefined
  const found: Array<StepName> = []
  let message = ""
  const range = `${head}:${Number(start) + 1}`
  yield* readSvnXml(
    session,
    ["log", "--limit", String(maxSteps + 1), "-r", range, pegged(url, head)],
    ({ attributes, name, text }) => {
      if (name === "msg") message = text
      if (name !== "logentry") return
      found.push({ id: attributes["revision"] ?? "", title: toTitle(message) })
      message = ""
    }
  )
  return found.length > maxSteps ? undefined : found.toReversed()
})
