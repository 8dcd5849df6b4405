/** Permissions of an account, as GitHub, Gitea and Forgejo return them with a repository. */
import { Schema } from "effect"

export const Permissions = Schema.optional(
  Schema.NullOr(Schema.Struct({ push: Schema.optional(Schema.Boolean), admin: Schema.optional(Schema.Boolean) }))
)

/** Returns the missing permission as text for operators; empty where the host does not report permissions. */
export const missingWriteAccess = (permissions: { readonly push?: boolean | undefined } | null | undefined) =>
  permissions === undefined || permissions === null || permissions.push === true
    ? []
    : ["the account may not write to the repository; commit status and labels need write access"]
