/**
 * Reads SARIF files of CI artifacts of a commit, within limits. Nothing fails for it: what cannot be read costs only itself and is named.
 * Names of artifacts appear in these notices, and the author of a change can choose them.
 */
import { Effect } from "effect"
import type { Repo } from "../domain/Change.ts"
import type { ForgeError } from "./ForgeError.ts"
import type { CiArtifact, CiRun, HostCi, Listed } from "./hosts/HostCi.ts"
import { readZip } from "./hosts/ReadZip.ts"
import type { ZipLimits } from "./hosts/ReadZip.ts"
import { distinctReasons } from "../domain/Reason.ts"
import type { Reason } from "../domain/Reason.ts"

interface ArtifactFiles {
  /** The newest run first. */
  readonly files: ReadonlyArray<string>
  readonly notices: ReadonlyArray<Reason>
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
  const notices: Array<Reason> = []
  const { found, problems } = yield* findArtifacts(ci, repo, head, runs, isWanted)
  notices.push(...problems)
  if (found.length > maxArtifacts) {
    notices.push({ _tag: "CiArtifactsOverLimit", count: found.length - maxArtifacts, limit: maxArtifacts })
  }
  let left = maxBytes
  for (const artifact of found.slice(0, maxArtifacts)) {
    const name = quoteName(artifact.name)
    const skip = (reason: Reason) => notices.push({ _tag: "CiArtifactUnread", name, reason })
    if ((artifact.bytes ?? 0) > maxZipBytes) {
      skip({ _tag: "ArtifactTooLarge", limit: maxZipBytes })
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
      const tag = content.files.length === 0 ? "CiArtifactFilesUnread" : "CiArtifactReadInPart"
      notices.push({ _tag: tag, name, reasons: content.unread })
    } else if (content.files.length === 0) skip({ _tag: "ArtifactWithoutSarif" })
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
  const problems: Array<Reason> = []
  for (const run of runs.slice(0, maxRuns)) {
    const listed: Listed<CiArtifact> = yield* Effect.catch(ci.artifacts(repo, head, run), (error) =>
      Effect.map(explain(error), (why) => {
        problems.push({ _tag: "CiListUnread", reason: why })
        return { items: [], hasMore: false }
      })
    )
    found.push(...listed.items.filter(({ name }) => isWanted(name)))
    if (listed.hasMore) problems.push({ _tag: "CiListCut", count: listed.items.length })
  }
  return { found, problems: distinctReasons(problems) }
})

/** Returns the reason for people who read the review, and logs what the host responded. */
export const explain = (error: ForgeError): Effect.Effect<Reason> =>
  Effect.as(Effect.logWarning("read of CI failed", { operation: error.operation, error: error.message }), {
    _tag: toTag[error.reason] ?? "CiSilent"
  })

const toTag: Partial<Record<ForgeError["reason"], CiRefusal>> = {
  unauthorized: "CiRefused",
  forbidden: "CiForbidden",
  not_found: "CiHidden",
  rate_limited: "CiLimited",
  invalid: "CiInvalid"
}

type CiRefusal = "CiRefused" | "CiForbidden" | "CiHidden" | "CiLimited" | "CiInvalid"

/** Prepares a name that its author chose for a comment. */
const quoteName = (name: string): string =>
  `\`${name
    .slice(0, 60)
    .replace(/[^\p{L}\p{N} ._/:,()[\]-]+/gu, "")
    .trim()}\``
