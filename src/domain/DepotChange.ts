/**
 * A submitted change of a VCS without webhooks, as a hook script reported it. Which trigger and workspace it belongs to is
 * decided later, from the stored receipt: the script knows only its depot.
 */
import { Schema } from "effect"

export const DepotChange = Schema.Struct({
  vcs: Schema.Literals(["perforce", "subversion"]),
  /** Changelist or revision number. */
  revision: Schema.String,
  /** What it is compared with, where the script says so. */
  base: Schema.optional(Schema.String),
  user: Schema.optional(Schema.String),
  /** Perforce client workspace. */
  client: Schema.optional(Schema.String),
  /** Depot path that the hook guards. */
  path: Schema.optional(Schema.String),
  /** As many of the changed files as are kept. */
  files: Schema.Array(Schema.String),
  description: Schema.optional(Schema.String),
  /** Workspaces that the caller's key opens; left out: all. */
  workspaces: Schema.optional(Schema.Array(Schema.String))
})
export type DepotChange = typeof DepotChange.Type
