/**
 * Properties of files and folders, as a text in the diff. The name of that text cannot be confused with a file, which has no such suffix
 * in practice, and is where findings about properties are reported.
 */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import type { SvnFile } from "./SvnFiles.ts"
import { pegged } from "./SvnUrl.ts"

const suffix = "(svn properties)"

export const toPropertiesPath = (path: string): string => (path === "" ? suffix : `${path} ${suffix}`)
export const isPropertiesPath = (path: string): boolean => path === suffix || path.endsWith(` ${suffix}`)
export const withoutSuffix = (path: string): string => path.slice(0, -suffix.length).trimEnd()

const maxCharacters = 65_536
/** Bookkeeping of merges, which is not reviewed. */
const hidden = "svn:mergeinfo"

/** Returns the properties in a fixed order; undefined if the file does not exist. */
export const readProperties = (session: SvnSession, { revision, url }: SvnFile) =>
  listProperties(session, [pegged(url, revision)])

/** Reads those of a working copy, in a revision such as `BASE` or with its changes. */
export const readLocalProperties = (session: SvnSession, target: string, revision: string | undefined) =>
  listProperties(session, [...(revision === undefined ? [] : ["-r", revision]), target])

const listProperties = Effect.fnUntraced(function* (
  session: SvnSession,
  args: ReadonlyArray<string>
): Effect.fn.Return<string | undefined, CheckoutError> {
  const found: Array<readonly [name: string, value: string]> = []
  const exists = yield* readSvnXml(session, ["proplist", "--verbose", ...args], ({ attributes, name, text }) => {
    const key = attributes["name"]
    if (name !== "property" || key === undefined || key === hidden) return
    const encoding = attributes["encoding"]
    found.push([key, encoding === undefined ? text : `(${encoding}) ${text}`])
  }).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.succeed(false)
    )
  )
  if (!exists) return undefined
  return found
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, value]) =>
        `${name}:\n${value
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => `  ${line}\n`)
          .join("")}`
    )
    .join("")
    .slice(0, maxCharacters)
})
