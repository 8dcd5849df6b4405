/** Contract of the CI of a host: runs of a commit and the artifacts that they stored. Reads only. */
import type { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface CiRun {
  readonly id: number
  readonly hasEnded: boolean
}

export interface CiArtifact {
  readonly id: number
  /** Name of the artifact; at GitLab, whose artifacts have none, that of the job. */
  readonly name: string
  /** Size of the zip as the host reports it. */
  readonly bytes: number | undefined
}

/** Part of a list, and whether the host has more. */
export interface Listed<A> {
  readonly items: ReadonlyArray<A>
  readonly hasMore: boolean
}

export type Download =
  | { readonly _tag: "Bytes"; readonly bytes: Uint8Array }
  /** The file is too large, or its storage cannot be used, with the reason in words for people. */
  | { readonly _tag: "Impossible"; readonly why: Reason }

export interface HostCi {
  /** Returns the newest CI runs of exactly this commit in this repository. */
  readonly runs: (repo: Repo, head: string) => Effect.Effect<Listed<CiRun>, ForgeError>
  /** Returns artifacts of a run that can be downloaded, each of this commit. */
  readonly artifacts: (repo: Repo, head: string, run: CiRun) => Effect.Effect<Listed<CiArtifact>, ForgeError>
  /** Returns the zip of an artifact. */
  readonly download: (repo: Repo, artifact: CiArtifact, maxBytes: number) => Effect.Effect<Download, ForgeError>
}
