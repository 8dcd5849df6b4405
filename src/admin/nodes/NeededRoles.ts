/** Decides which roles the configuration of a node needs on some node of the installation. */
import type { Snapshot } from "../../config/Snapshot.ts"
import { workingRoles } from "../../domain/Role.ts"
import type { Role } from "../../domain/Role.ts"
import { readAdminCredentials } from "../AdminCredentials.ts"

/** Commands from chat need the role `chat` where a connection is enabled, the dashboard its role where an administrator can log in. */
export const neededRoles = (snapshot: Snapshot): ReadonlyArray<Role> => [
  "ingress",
  ...workingRoles,
  ...(Object.values(snapshot.document.im.connections).some(({ enabled }) => enabled) ? (["chat"] as const) : []),
  ...(readAdminCredentials(snapshot) === undefined ? [] : (["dashboard"] as const))
]
