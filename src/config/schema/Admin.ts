/** Schema of `admin`: the login of the dashboard. Without credentials the dashboard is off. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, optional } from "../Field.ts"
import { EnvName, PositiveInt, Secret } from "../Scalars.ts"

export const AdminConfig = Schema.Struct({
  username_env: defaulted(EnvName, "SVC_ADMIN_USERNAME", "Environment variable that holds the user name."),
  password_env: defaulted(EnvName, "SVC_ADMIN_PASSWORD", "Environment variable that holds the password."),
  password_hash_env: optional(
    EnvName,
    "Environment variable that holds `sha256:<hex>` of the password. Takes precedence over password_env."
  ),
  password: optional(Secret, "Literal password.", { winsOver: "password_env" }),
  password_hash: optional(Secret, "Literal hash `sha256:<hex>` of the password.", {
    exclusive: ["password_hash_env"]
  }),
  session_ttl_seconds: defaulted(PositiveInt, 86_400, "Seconds a session lasts.")
})
export type AdminConfig = Resolved<typeof AdminConfig>
