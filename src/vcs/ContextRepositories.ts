/**
 * Further repositories that a review may read beside its own: one revision of each, out of the object store, so that nothing of
 * it is on disk as a file, nothing can be written, and no link leads anywhere.
 */
import { Context } from "effect"
import type { Effect, Redacted, Scope } from "effect"
import type { CheckoutError } from "./Checkout.ts"

export interface MountRequest {
  /** http(s) URL without credentials. */
  readonly url: string
  /** Branch, tag or full commit id; undefined: the default branch of the remote. */
  readonly ref: string | undefined
  /** Extra HTTP header with the credential; handed to git through its environment only. */
  readonly authorization: Redacted.Redacted | undefined
  /** All files of the revision together. A larger one fails with `failed`, and what was fetched of it is removed. */
  readonly maxBytes: number
}

/** What a path holds. Links and other repositories are named, never followed. */
export type MountedEntry =
  | { readonly _tag: "File"; readonly text: string }
  | { readonly _tag: "Directory"; readonly names: ReadonlyArray<string>; readonly more: number }
  | { readonly _tag: "Refused"; readonly why: string }

export interface Mount {
  /** Full id of the commit that is read, the same for as long as the mount lives. */
  readonly commit: string
  /** `""` is the root. */
  readonly read: (
    path: string,
    limits: { readonly maxBytes: number; readonly maxNames: number }
  ) => Effect.Effect<MountedEntry, CheckoutError>
}

/** A mount under the name that the configuration gives it. */
export interface MountedContext extends Mount {
  readonly alias: string
}

export class ContextRepositories extends Context.Service<
  ContextRepositories,
  {
    /** The revision is brought here and kept until the scope closes. */
    readonly mount: (request: MountRequest) => Effect.Effect<Mount, CheckoutError, Scope.Scope>
  }
>()("aicr/vcs/ContextRepositories") {}
