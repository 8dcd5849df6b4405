/** Finds the location of a URL in a revision. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pathBelow, pegged } from "./SvnUrl.ts"

export interface SvnInfo {
  /** URL in this revision: another one than requested if the branch was moved or copied since. */
  readonly url: string
  readonly revision: string
  /** URL of the repository, and the path of `url` in it. */
  readonly root: string
  readonly pathInRepository: string
  readonly uuid: string
  /** Newest revision that changed it. */
  readonly lastChanged: string
}

export type SvnEnd = Pick<SvnInfo, "url" | "revision" | "pathInRepository">

/** The branch at both ends of a comparison. */
export interface SvnEnds {
  readonly head: SvnEnd
  /** Undefined: the branch did not exist. */
  readonly from: SvnEnd | undefined
}

/**
 * Returns the object that is at `url` in revision `peg`, in its state of `revision`; undefined if it does not exist. A path of a working copy
 * has no peg, and no revision: its own state, without a request to the server.
 */
export const readInfo = Effect.fnUntraced(function* (
  session: SvnSession,
  url: string,
  peg: string,
  revision: string | undefined
): Effect.fn.Return<SvnInfo | undefined, CheckoutError> {
  const found = { url: "", root: "", uuid: "", lastChanged: revision ?? "", revision: revision ?? "" }
  yield* readSvnXml(
    session,
    ["info", ...(revision === undefined ? [] : ["-r", revision]), pegged(url, peg)],
    ({ attributes, name, text }) => {
      if (name === "url" || name === "root" || name === "uuid") found[name] = text
      if (name === "commit") found.lastChanged = attributes["revision"] ?? found.lastChanged
      if (name === "entry") found.revision = attributes["revision"] ?? found.revision
    }
  ).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.void
    )
  )
  return found.url === "" ? undefined : { ...found, pathInRepository: pathBelow(found.root, found.url) ?? "" }
})
