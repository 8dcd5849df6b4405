/** Decides whether a browser sent a request on behalf of another site. Pure. */
import type { AdminRequest } from "../AdminApi.ts"

const single = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : undefined

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

/**
 * Returns whether the request comes from a page of another site. Browsers report the relation in `sec-fetch-site`; older ones send only
 * `origin`, which is compared with `host`. Programs send neither.
 */
export const isCrossOrigin = ({ headers }: Pick<AdminRequest, "headers">): boolean => {
  const site = single(headers["sec-fetch-site"])
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  const origin = single(headers["origin"])
  return origin !== undefined && hostOf(origin) !== single(headers["host"])?.toLowerCase()
}
