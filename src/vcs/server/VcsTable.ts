/** Every version control system, as a row of a table: a missing row does not compile. */
import type { Effect, Scope } from "effect"
import type { VcsKind } from "../../domain/Kinds.ts"
import type { Checkouts, GitCheckoutRequest } from "../Checkout.ts"
import type { GitMountRequest, Mounts } from "../ContextRepositories.ts"
import { makeGit } from "../git/GitVcs.ts"
import type { GitVcsOptions } from "../git/GitVcs.ts"
import type { ServerAdapter } from "./ServerAdapter.ts"
import { makePerforce } from "../perforce/PerforceVcs.ts"
import { makeSubversion } from "../subversion/SubversionVcs.ts"

/** Git has a host, which describes its changes (src/forge). */
interface Adapters {
  readonly git: Checkouts<GitCheckoutRequest> & Mounts<GitMountRequest>
  readonly server: ServerAdapter
}

type Row<K extends VcsKind> = (
  options: VcsOptions
) => Effect.Effect<Adapters[K extends "git" ? "git" : "server"], never, Scope.Scope>

export type VcsOptions = Pick<GitVcsOptions, "limits" | "allowLocal" | "fetchTimeoutMillis"> & {
  /** Folder of everything on disk, used by this process only. */
  readonly root: string
}

export const vcsTable = {
  git: makeGit,
  subversion: (options) => makeSubversion(scratchOptions(options)),
  perforce: (options) => makePerforce(scratchOptions(options))
} satisfies { readonly [K in VcsKind]: Row<K> }

/** Scratch folders are removed with the worktrees of git when their process no longer runs. */
const scratchOptions = ({ fetchTimeoutMillis, limits, root }: VcsOptions) => ({
  limits,
  root: `${root}/worktrees`,
  replyMillis: fetchTimeoutMillis
})
