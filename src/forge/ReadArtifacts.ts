/**
 * Reads SARIF files of CI artifacts of a commit, within limits. Nothing fails for it: what cannot be read costs only itself and is named.
 * Names of artifacts appear in these notices, and the author of a change can choose them.
 */
import { Effect } from "effect"
import type { Repo } from "../domain/Change.ts"
import type { ForgeError } from "./ForgeError.ts"
import type { CiArtifact, CiRun, HostCi, Listed } from "./HostCi.ts"
import { readZip } from "./ReadZip.ts"
import type { ZipLimits } from "./ReadZip.ts"

export interface ArtifactFiles {
  /** The newest run first. */
  readonly files: ReadonlyArray<string>
  readonly notices: ReadonlyArray<string>
}

export const maxRuns = 20
const maxArtifacts = 10
const maxZipBytes = 16 * 1_048_576
const zipLimits: ZipLimits = {
  maxEntries: 10_000,
  maxFiles: 20,
  maxFileBytes: 8 * 1_048_576,
  maxBytes: 16 * 1_048_576,
  maxRatio: 250
}
/** Unpacked bytes of all artifacts. */
const maxBytes = 32 * 1_048_576

const isSarif = (name: string): boolean => /\.sarif(?:\.json)?$/i.test(name)

export const readArtifacts = Effect.fn("readArtifacts")(function* (
  ci: HostCi,
  { repo, head, runs }: { readonly repo: Repo; readonly head: string; readonly runs: ReadonlyArray<CiRun> },
  isWanted: (name: string) => boolean
): Effect.fn.Return<ArtifactFiles> {
  const files: Array<string> = []
  const notices: Array<string> = []
  const { found, problems } = yield* findArtifacts(ci, repo, head, runs, isWanted)
  notices.push(...problems)
  if (found.length > maxArtifacts) {
    notices.push(
      `${found.length - maxArtifacts} artifacts that match review.evidence.ci.artifacts were not read: at most ${maxArtifacts} are.`
    )
  }
  let left = maxBytes
  for (const artifact of found.slice(0, maxArtifacts)) {
    const skip = (why: string) => notices.push(`The artifact ${quoteName(artifact.name)} of CI was not read: ${why}.`)
    if ((artifact.bytes ?? 0) > maxZipBytes) {
      skip(`it is larger than ${maxZipBytes} bytes`)
      continue
    }
    const zip = yield* Effect.catch(ci.download(repo, artifact, maxZipBytes), (error) =>
      Effect.map(explain(error), (why) => ({ _tag: "Impossible", why }) as const)
    )
    if (zip._tag === "Impossible") {
      skip(zip.why)
      continue
    }
    const content = yield* Effect.promise(() =>
      readZip(zip.bytes, isSarif, { ...zipLimits, maxBytes: Math.min(zipLimits.maxBytes, left) })
    )
    for (const bytes of content.files) {
      left -= bytes.length
      files.push(new TextDecoder().decode(bytes))
    }
    if (content.unread.length > 0) {
      const part = content.files.length === 0 ? "not read" : "read in part"
      notices.push(`The artifact ${quoteName(artifact.name)} of CI was ${part}: ${content.unread.join("; ")}.`)
    } else if (content.files.length === 0) skip("it has no file .sarif or .sarif.json")
  }
  return { files, notices }
})

const findArtifacts = Effect.fnUntraced(function* (
  ci: HostCi,
  repo: Repo,
  head: string,
  runs: ReadonlyArray<CiRun>,
  isWanted: (name: string) => boolean
) {
  const found: Array<CiArtifact> = []
  const problems = new Set<string>()
  for (const run of runs.slice(0, maxRuns)) {
    const listed: Listed<CiArtifact> = yield* Effect.catch(ci.artifacts(repo, head, run), (error) =>
      Effect.map(explain(error), (why) => {
        problems.add(`The artifacts of a CI run were not read: ${why}.`)
        return { items: [], hasMore: false }
      })
    )
    found.push(...listed.items.filter(({ name }) => isWanted(name)))
    if (listed.hasMore)
      problems.add(`A CI run has more artifacts than the first ${listed.items.length}; only these were searched.`)
  }
  return { found, problems }
})

/** Returns the reason for people who read the review, and logs what the host responded. */
export const explain = (error: ForgeError): Effect.Effect<string> =>
  Effect.as(
    Effect.logWarning("read of CI failed", { operation: error.operation, error: error.message }),
    reasons[error.reason] ?? "the host did not return it"
  )

const reasons: Partial<Record<ForgeError["reason"], string>> = {
  unauthorized: "the host refused the credential",
  forbidden: "the credential may not read CI",
  not_found: "the host does not have it, or the credential may not read it",
  rate_limited: "the host limits the requests of the credential",
  invalid: "the host returned something else"
}

/** Prepares a name that its author chose for a comment. */
const quoteName = (name: string): string =>
  `\`${name
    .slice(0, 60)
    .replace(/[^\p{L}\p{N} ._/:,()[\]-]+/gu, "")
    .trim()}\``
