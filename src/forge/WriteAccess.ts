/** Permissions of an account, as GitHub, Gitea and Forgejo return them with a repository. */
import { Schema } from "effect"

export const Permissions = Schema.optional(
  Schema.NullOr(Schema.Struct({ push: Schema.optional(Schema.Boolean), admin: Schema.optional(Schema.Boolean) }))
)

/** Returns the missing permission; empty where the host does not report permissions. */
export const missingWriteAccess = (permissions: { readonly push?: boolean | undefined } | null | undefined) =>
  permissions === undefined || permissions === null || permissions.push === true
    ? []
    : [{ _tag: "NoWriteAccess" } as const]
