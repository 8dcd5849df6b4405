/** Schema of `admin`: the login of the dashboard. Without credentials the dashboard is off. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, optional } from "../fields/Field.ts"
import { EnvName, PositiveInt, Secret } from "../fields/Scalars.ts"

export const AdminConfig = Schema.Struct({
  username_env: defaulted(EnvName, "SVC_ADMIN_USERNAME", "admin.username_env"),
  password_env: defaulted(EnvName, "SVC_ADMIN_PASSWORD", "admin.password_env"),
  password_hash_env: optional(EnvName, "admin.password_hash_env"),
  password: optional(Secret, "admin.password", { winsOver: "password_env" }),
  password_hash: optional(Secret, "admin.password_hash", {
    exclusive: ["password_hash_env"]
  }),
  session_ttl_seconds: defaulted(PositiveInt, 86_400, "admin.session_ttl_seconds")
})
export type AdminConfig = Resolved<typeof AdminConfig>
