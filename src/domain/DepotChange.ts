/**
 * A VCS hook event: a submitted change of a VCS without webhooks, reported by a hook script, or named by a person. Its trigger and workspace
 * are determined later, from the stored receipt, because the script only reports its depot.
 */
import { Schema } from "effect"

export const DepotChange = Schema.Struct({
  vcs: Schema.Literals(["perforce", "subversion"]),
  /** A trigger of the server that reports: changelists of two Perforce servers have equal numbers and paths. */
  trigger: Schema.optional(Schema.String),
  /** Repository of the hook: UUID or URL of Subversion. A number alone exists in every repository. */
  repository: Schema.optional(Schema.String),
  /** Changelist or revision number. */
  revision: Schema.String,
  /** Base of the comparison, if the script reports one. */
  base: Schema.optional(Schema.String),
  user: Schema.optional(Schema.String),
  /** Perforce client workspace. */
  client: Schema.optional(Schema.String),
  /** Depot path that the hook guards. */
  path: Schema.optional(Schema.String),
  /** Changed files, up to the maximum number stored. */
  files: Schema.Array(Schema.String),
  description: Schema.optional(Schema.String),
  /** Workspaces that the caller's key opens; absent: all. */
  workspaces: Schema.optional(Schema.Array(Schema.String)),
  /** A shelf of Perforce is deleted; absent: a change was submitted or shelved. */
  isShelfDeleted: Schema.optional(Schema.Literal(true)),
  /** Person who requested the review of this revision of `trigger`; absent: a hook reported it. */
  requestedBy: Schema.optional(Schema.String)
})
export type DepotChange = typeof DepotChange.Type
