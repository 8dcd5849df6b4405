/** Permissions of an account, as GitHub, Gitea and Forgejo return them with a repository. */
import { Schema } from "effect"

export const Permissions = Schema.optional(
  Schema.NullOr(Schema.Struct({ push: Schema.optional(Schema.Boolean), admin: Schema.optional(Schema.Boolean) }))
)

/** Returns where a repository is now that the host redirects to from its configured name. */
export const movedFrom = (configured: string, now: string | null | undefined) =>
  now === undefined || now === null || now.toLowerCase() === configured.toLowerCase()
    ? []
    : [{ _tag: "RepositoryMoved", from: configured, to: now } as const]

/** Returns the missing permission; empty where the host does not report permissions. */
export const missingWriteAccess = (permissions: { readonly push?: boolean | undefined } | null | undefined) =>
  permissions === undefined || permissions === null || permissions.push === true
    ? []
    : [{ _tag: "NoWriteAccess" } as const]
