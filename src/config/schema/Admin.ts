/** Schema of `admin`: the login of the dashboard. Without credentials the dashboard is off. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, optional } from "../fields/Field.ts"
import { EnvName, Flag, list, PositiveInt, Secret, Text, Url } from "../fields/Scalars.ts"

const Groups = list(Text, { unique: true })

export const AdminConfig = Schema.Struct({
  username_env: defaulted(EnvName, "SVC_ADMIN_USERNAME", "admin.username_env"),
  password_env: defaulted(EnvName, "SVC_ADMIN_PASSWORD", "admin.password_env"),
  password_hash_env: optional(EnvName, "admin.password_hash_env"),
  password: optional(Secret, "admin.password", { winsOver: "password_env" }),
  password_hash: optional(Secret, "admin.password_hash", {
    exclusive: ["password_hash_env"]
  }),
  figures_by_author: defaulted(Flag, false, "admin.figures_by_author"),
  session_ttl_seconds: defaulted(PositiveInt, 86_400, "admin.session_ttl_seconds"),
  oidc: group(
    {
      issuer: optional(Url, "admin.oidc.issuer"),
      client_id: optional(Text, "admin.oidc.client_id"),
      client_secret_env: optional(EnvName, "admin.oidc.client_secret_env"),
      client_secret: optional(Secret, "admin.oidc.client_secret", { exclusive: ["client_secret_env"] }),
      scopes: defaulted(list(Text, { minItems: 1, unique: true }), ["openid", "profile", "email"], "admin.oidc.scopes"),
      username_claim: defaulted(Text, "email", "admin.oidc.username_claim"),
      groups_claim: defaulted(Text, "groups", "admin.oidc.groups_claim"),
      roles: group(
        {
          viewer: defaulted(Groups, [], "admin.oidc.roles.viewer"),
          operator: defaulted(Groups, [], "admin.oidc.roles.operator"),
          editor: defaulted(Groups, [], "admin.oidc.roles.editor"),
          administrator: defaulted(Groups, [], "admin.oidc.roles.administrator")
        },
        "admin.oidc.roles"
      )
    },
    "admin.oidc"
  )
})
export type AdminConfig = Resolved<typeof AdminConfig>
