/**
 * Further repositories that a review may read in addition to its own: one revision of each, read from the object store, so that
 * none of its files are on disk, nothing can be written, and symbolic links are never followed.
 */
import { Context } from "effect"
import type { Effect, Redacted, Scope } from "effect"
import type { CheckoutError, RevisionSearch } from "./Checkout.ts"
import type { VcsServer } from "./server/VcsServer.ts"

export type MountRequest = GitMountRequest | ServerMountRequest

/** A folder of a system whose repository is on its server. */
export interface ServerMountRequest {
  readonly vcs: VcsServer["vcs"]
  readonly server: VcsServer
  /** Depot path of Perforce; Subversion reads the URL of its server. */
  readonly path: string
  /** Revision or changelist; undefined: the newest. */
  readonly revision: string | undefined
  /** Maximum size of all files. The fetch ends at the limit. */
  readonly maxBytes: number
}

export interface GitMountRequest {
  readonly vcs?: "git" | undefined
  /** URL over http or https without credentials. */
  readonly url: string
  /** Branch, tag or full commit id; undefined: the default branch of the remote. */
  readonly ref: string | undefined
  /** Additional HTTP header with the credential; passed to git through its environment only. */
  readonly authorization: Redacted.Redacted | undefined
  /** Maximum size of all files of the revision. A larger revision fails with `failed`, and its fetched objects are removed. */
  readonly maxBytes: number
}

/** Content of a path. Links and submodules are reported, never followed. */
export type MountedEntry =
  | { readonly _tag: "File"; readonly text: string }
  | { readonly _tag: "Directory"; readonly names: ReadonlyArray<string>; readonly more: number }
  | { readonly _tag: "Refused"; readonly why: string }

export interface Mount {
  /** Full id of the commit, or number of the revision, that is read; constant during the lifetime of the mount. */
  readonly commit: string
  /** `""` is the root. */
  readonly read: (
    path: string,
    limits: { readonly maxBytes: number; readonly maxNames: number }
  ) => Effect.Effect<MountedEntry, CheckoutError>
  readonly search: RevisionSearch
}

/** A mount under the name that the configuration gives it. */
export interface MountedContext extends Mount {
  readonly alias: string
}

export interface Mounts<Request> {
  /** Fetches the revision and keeps it until the scope closes. */
  readonly mount: (request: Request) => Effect.Effect<Mount, CheckoutError, Scope.Scope>
}

export class ContextRepositories extends Context.Service<ContextRepositories, Mounts<MountRequest>>()(
  "aicr/vcs/ContextRepositories"
) {}
